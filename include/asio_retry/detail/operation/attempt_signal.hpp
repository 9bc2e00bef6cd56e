#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/stack_mark.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <exception>
#include <utility>

namespace asio_retry::detail {

/// Tells an attempt to stop. What ends meanwhile is held back until all have been told: its slot is being used.
class attempt_signal {
public:
    asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    /// On the executor.
    bool is_telling() const noexcept { return is_telling_; }

    /// On a thread that may not be the executor's: whether it is this one that tells.
    bool is_telling_here() const noexcept { return stack_mark::find(this) != nullptr; }

    /// Precondition: one of these.
    void hold_back() noexcept { holds_back_ = true; }

    /// Lets what was held back go on.
    template <typename GoOn>
    void tell(asio::cancellation_type_t type, GoOn go_on) {
        bool const tells_already = std::exchange(is_telling_, true); // and what it tells has cancelled again
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
