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
        bool has_room() const noexcept { return true; }
        bool leave_scope() noexcept { return true; }
        scope_request take_request() noexcept { return scope_request::none; }
        void count_stopped_attempt() noexcept {}
        presence take_presence() noexcept { return {}; }
    };
};

/// An operation started in a retry_scope.
struct scope_membership {
    static constexpr bool is_scoped = true;

    scope_handle scope;

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
            machine.inherit_deadline(presence_.scope().deadline());
        }

        bool has_room() const noexcept { return presence_.has_room(); }

        /// Returns false while a notice is under way.
        bool leave_scope() noexcept { return presence_.scope().unlink(*this); }

        scope_request take_request() noexcept { return presence_.scope().take_request(*this); }
        void miss_request() noexcept { presence_.scope().miss_request(*this); }

        void count_stopped_attempt() noexcept { presence_.scope().count_stopped_attempt(); }

        presence take_presence() noexcept { return presence(std::move(presence_)); }

    private:
        bool stops(bool) const noexcept override { return presence_.scope().stopped(); }
        bool tells_attempt() const noexcept override { return presence_.scope().cancelled(); }
        void on_scope_notice() override { static_cast<Operation*>(this)->post_scope_notice(); }
        void on_notice_failed() override { static_cast<Operation*>(this)->on_scope_notice_failed(); }

        scope_presence presence_;
    };
};

} // namespace asio_retry::detail
