#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/scope_state.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/asio/consign.hpp>

#include <utility>

namespace asio_retry::detail {

/// An operation outside any scope.
struct no_membership {
    static constexpr bool is_scoped = false;

    class presence {
    public:
        template <typename Handler>
        Handler&& until_called(Handler&& handler) const noexcept {
            return std::move(handler);
        }
    };

    template <typename Operation>
    class member {
    protected:
        explicit member(no_membership&&) noexcept {}
        void join_scope(retry_machine&) noexcept {}
        bool leave_scope() noexcept { return true; }
        void set_notice_seen() noexcept {}
        void await_notice_again() noexcept {}
        presence take_presence() noexcept { return {}; }
    };
};

/// An operation started in a retry_scope.
struct scope_membership {
    static constexpr bool is_scoped = true;

    std::shared_ptr<scope_state> scope;

    class presence {
    public:
        explicit presence(scope_presence&& in) noexcept
            : in_(std::move(in)) {}

        template <typename Handler>
        auto until_called(Handler&& handler) {
            return asio::consign(std::move(handler), std::move(in_));
        }

    private:
        scope_presence in_;
    };

    template <typename Operation>
    class member : public scope_member, public cancellation_probe {
    protected:
        explicit member(scope_membership&& membership)
            : presence_(std::move(membership.scope)) {}

        void join_scope(retry_machine& machine) {
            presence_.scope().link(*this);
            machine.watch(*this);
        }

        /// Returns false while a notice is under way.
        bool leave_scope() noexcept { return notice_seen_ || presence_.scope().unlink(*this); }

        void set_notice_seen() noexcept { notice_seen_ = true; }

        /// One failed, and the next cancellation of the scope is to bring another.
        void await_notice_again() noexcept { presence_.scope().relink(*this); }

        presence take_presence() noexcept { return presence(std::move(presence_)); }

    private:
        bool stops(bool) const noexcept override { return presence_.scope().cancelled(); }
        void on_scope_cancelled() override { static_cast<Operation*>(this)->post_scope_notice(); }
        void on_notice_failed() override { static_cast<Operation*>(this)->on_scope_notice_failed(); }

        scope_presence presence_;
        bool notice_seen_ = false;
    };
};

} // namespace asio_retry::detail
