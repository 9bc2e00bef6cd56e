#include <asio_retry/detail/handler/coroutine_entry.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace asio_retry::detail {

void coroutine_stack::move_to(asio::any_io_executor other) {
    moved_.reset(new asio::any_io_executor(std::move(other)));
    std::swap(*executor_, *moved_);
}

void coroutine_stack::move_back() noexcept {
    std::swap(*executor_, *moved_);
    moved_.reset();
}

[[gnu::hot]] void coroutine_stack::take_over(asio::cancellation_slot slot) noexcept {
    kept_parent_ = std::exchange(*parent_, slot);
    kept_state_ = std::exchange(*state_, asio::cancellation_state());
    kept_throws_ = std::exchange(*throws_, false);
    has_taken_over_ = true;
}

[[gnu::hot]] void coroutine_stack::renew() {
    *state_ = asio::cancellation_state(*parent_);
    *throws_ = true;
}

void coroutine_stack::throw_cancelled() {
    throw boost::system::system_error(asio::error::operation_aborted, "co_await");
}

[[gnu::hot]] void coroutine_stack::restore() noexcept {
    has_taken_over_ = false;
    *parent_ = kept_parent_;
    *state_ = kept_state_;
    *throws_ = kept_throws_;
}

} // namespace asio_retry::detail
