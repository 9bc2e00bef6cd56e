#pragma once

#include <cstdint>

namespace asio_retry::detail {

/// Marks that this thread starts an attempt, emits to it or enters a strand. A completion that arrives on
/// this thread meanwhile is only noted; the code that made the mark handles it. So inline completions are a
/// loop, never a recursion.
///
/// The marks of a thread form a stack that only this thread looks at. So there is no race with a completion on
/// another thread while the initiating function is still returning.
class stack_mark {
public:
    explicit stack_mark(void const* given_operation) noexcept
        : operation_(given_operation)
        , outer_(innermost) {
        innermost = this;
    }
    ~stack_mark() { innermost = outer_; }
    stack_mark(stack_mark const&) = delete;
    stack_mark& operator=(stack_mark const&) = delete;

    /// The mark of `operation` on this thread, or null.
    static stack_mark* find(void const* operation) noexcept {
        stack_mark* mark = innermost;
        while (mark && mark->operation_ != operation)
            mark = mark->outer_;
        return mark;
    }

    std::uint32_t ended = 0; ///< attempts that have ended meanwhile, as bits

private:
    static inline constinit thread_local stack_mark* innermost = nullptr;

    void const* operation_;
    stack_mark* outer_;
};

} // namespace asio_retry::detail
