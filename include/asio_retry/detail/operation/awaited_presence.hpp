#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/operation/driver.hpp>
#include <asio_retry/detail/operation/operation_membership.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>

#include <boost/asio/post.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// Keeps an operation that a coroutine awaits counted in its scope; empty outside a scope.
template <typename Executor, typename WaitsOn>
class awaited_presence {
public:
    static constexpr bool is_scoped = false;

    static void begin(retry_driver&, WaitsOn const&) noexcept {}
    static basic_membership<retry_driver>* member() noexcept { return nullptr; }
    static void end_on(Executor const&, std::unique_ptr<Executor>) noexcept {}
};

/// In a scope: counted until the coroutine that receives the result waits for something else.
template <typename Executor>
class awaited_presence<Executor, scope_handle> {
public:
    static constexpr bool is_scoped = true;

    awaited_presence() noexcept = default;
    awaited_presence(awaited_presence&&) noexcept {} // before it begins
    awaited_presence& operator=(awaited_presence&&) = delete;
    ~awaited_presence() {
        if (!ended_on_ || member_->end_unjoined())
            return;
        try {
            asio::post(*ended_on_, [counted = member_->take_presence()] {});
        } catch (...) { // it counts as ended here
        }
    }

    void begin(retry_driver& operation, scope_handle const& scope) { member_.emplace(operation, scope); }
    basic_membership<retry_driver>* member() noexcept { return &*member_; }

    /// The operation has ended, and its caller goes on there: in the strand, if there is one.
    void end_on(Executor const& executor, std::unique_ptr<Executor> strand) noexcept {
        strand_ = std::move(strand);
        ended_on_ = strand_ ? strand_.get() : &executor;
    }

private:
    std::optional<basic_membership<retry_driver>> member_; // the operation may be gone before
    std::unique_ptr<Executor> strand_;
    Executor const* ended_on_ = nullptr; // null if the coroutine is being destroyed
};

} // namespace asio_retry::detail
