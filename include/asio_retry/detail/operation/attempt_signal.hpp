#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/stack_mark.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <exception>
#include <utility>

namespace asio_retry::detail {

/// Emits a cancellation to an attempt. An attempt that ends meanwhile goes on only afterwards, because its slot
/// is still in use.
class attempt_signal {
public:
    asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    /// Whether an emission is in progress; only on the executor.
    bool is_telling() const noexcept { return is_telling_; }

    /// Whether this thread emits; on any thread.
    bool is_telling_here() const noexcept { return stack_mark::find(this) != nullptr; }

    /// Makes `tell` call `go_on` at its end. Precondition: is_telling() or is_telling_here().
    void hold_back() noexcept { holds_back_ = true; }

    /// Emits, then calls `go_on` if the attempt ended meanwhile.
    template <typename GoOn>
    void tell(asio::cancellation_type_t type, GoOn go_on) {
        bool const tells_already =
            std::exchange(is_telling_, true); // a handler of the emission has cancelled again
        std::exception_ptr thrown;
        emit(type, thrown);
        is_telling_ = tells_already;
        if (!is_telling_ && std::exchange(holds_back_, false))
            go_on();
        if (thrown)
            std::rethrow_exception(thrown);
    }

private:
    void emit(asio::cancellation_type_t type, std::exception_ptr& thrown) {
        stack_mark const here(this);
        try {
            signal_.emit(type);
        } catch (...) {
            thrown = std::current_exception();
        }
    }

    asio::cancellation_signal signal_;
    bool is_telling_ = false;
    bool holds_back_ = false;
};

} // namespace asio_retry::detail
