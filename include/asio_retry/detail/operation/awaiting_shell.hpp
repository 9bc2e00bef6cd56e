#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/operation/attempt_runner.hpp>
#include <asio_retry/detail/operation/operation_shell.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <tuple>
#include <utility>

namespace asio_retry::detail {

/// A retrying operation whose attempts are awaitables.
template <typename Awaitable, typename Signature, typename WaitsOn, typename Handler, typename Membership,
          bool HasStrand>
class awaiting_shell : public operation_shell<Signature, WaitsOn, Handler, Membership, HasStrand>,
                       protected attempt_runner<Awaitable, Signature> {
    using shell = operation_shell<Signature, WaitsOn, Handler, Membership, HasStrand>;

protected:
    using shell::shell;
    ~awaiting_shell() = default;

private:
    void start_attempt() final { this->run(this->get_operation_executor(), this->attempt_slot()); }

    void tell_attempt(asio::cancellation_type_t type) final {
        if (!this->stop_at_begin())
            this->emit(type);
    }

    void on_attempt_over() noexcept final {} // its coroutine stays in the slot
    void release_coroutine() noexcept final { this->end(); }

    bool is_cancelled() noexcept final { return this->machine().cancelled(); }
    void on_completed(typename shell::arguments&& result) final {
        std::apply([this](auto&&... values) { this->on_attempt_completed(std::move(values)...); },
                   std::move(result));
    }
    void on_dropped() noexcept final { this->on_attempt_dropped(); }
    void on_lost() noexcept final { this->on_coroutine_lost(); }
};

} // namespace asio_retry::detail
