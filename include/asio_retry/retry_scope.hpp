#pragma once

#include <asio_retry/detail/config.hpp>
#include <asio_retry/detail/scope_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// Operations that are cancelled together and waited for together; what a context is in Go.
///
/// `async_retry(scope, operation, policy)` starts an operation in it. Scopes nest: what reaches a scope reaches
/// its children. Cancelling it and cancelling an operation through the slot of its handler go together:
/// whichever is first. Lifetime: the destructor cancels and detaches, so a scope may be destroyed before its
/// operations have ended, but not after the execution context of its executor. Thread safety: all member
/// functions may be called from any thread.
class retry_scope {
public:
    using executor_type = boost::asio::any_io_executor;

    explicit retry_scope(executor_type executor)
        : retry_scope(std::move(executor), nullptr) {}

    /// A child: cancelled with its parent, and waited for by the join of its parent.
    explicit retry_scope(retry_scope& parent)
        : retry_scope(parent.get_executor(), parent.state_) {}

    ~retry_scope() {
        try {
            state_->cancel();
        } catch (...) { // an operation that could not be told finds out before its next attempt
        }
    }
    retry_scope(retry_scope const&) = delete;
    retry_scope& operator=(retry_scope const&) = delete;

    executor_type const& get_executor() const noexcept { return state_->executor(); }

    /// Ends every wait now with `operation_aborted`, tells every attempt to stop (`terminal`), and lets no
    /// further attempt begin, in this scope and its children. For good: what is started in it later makes no
    /// attempt.
    void cancel() { state_->cancel(); }

    bool cancelled() const noexcept { return state_->cancelled(); }

    /// How many operations have been started here or in a child and have not ended.
    std::size_t pending() const { return state_->pending(); }

    /// Completes when the handler of the last operation of the scope and its children has run; it cancels
    /// nothing.
    ///
    /// Completion signature: void(error_code), with success. Executor: that of the handler, or else that of the
    /// scope. Per-operation cancellation: all types; the join then completes with `operation_aborted` and the
    /// operations go on. Any number of joins may be pending.
    template <typename Token = boost::asio::deferred_t>
    auto async_join(Token&& token = Token()) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(initiate_join{state_},
                                                                                   token);
    }

private:
    friend std::shared_ptr<detail::scope_state> const& state_of(retry_scope const& scope) noexcept {
        return scope.state_;
    }

    retry_scope(executor_type executor, std::shared_ptr<detail::scope_state> parent)
        : state_(std::make_shared<detail::scope_state>(std::move(executor), std::move(parent))) {
        state_->attach();
    }

    struct initiate_join {
        using executor_type = boost::asio::any_io_executor;
        std::shared_ptr<detail::scope_state> state;

        executor_type get_executor() const noexcept { return state->executor(); }

        template <typename Handler>
        void operator()(Handler&& handler) const {
            state->async_join(std::decay_t<Handler>(std::forward<Handler>(handler)));
        }
    };

    std::shared_ptr<detail::scope_state> state_;
};

} // namespace asio_retry
