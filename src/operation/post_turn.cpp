#include <asio_retry/detail/operation/driver_shell.hpp>

#include <asio_retry/detail/handler/queued_turn.hpp>

namespace asio_retry::detail {

void post_turn_of(retry_driver& operation, operation_turn turn, asio::io_context::executor_type const& on) {
    post_turn(on, on, operation, turn);
}

void post_turn_of(retry_driver& operation, operation_turn turn, asio::any_io_executor const& on) {
    post_turn(on, on, operation, turn);
}

} // namespace asio_retry::detail
