#pragma once

namespace asio_retry::detail {

/// While this thread starts an attempt, tells it to stop or enters a strand: a completion that arrives
/// meanwhile, on this thread, is only noted, and seen to by whoever made the mark. So inline completions are a
/// loop, never a recursion.
///
/// The marks of one thread form a stack; only their own thread looks at it, so a completion on another thread
/// while the initiating function is still returning is no race.
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

    /// The mark of this thread that was made for `operation`; null if there is none.
    static stack_mark* find(void const* operation) noexcept {
        stack_mark* mark = innermost;
        while (mark && mark->operation_ != operation)
            mark = mark->outer_;
        return mark;
    }

    bool completed = false;

private:
    static inline constinit thread_local stack_mark* innermost = nullptr;

    void const* operation_;
    stack_mark* outer_;
};

} // namespace asio_retry::detail
