#pragma once

namespace asio_retry::detail {

/// While this thread starts an attempt, tells it to stop or enters a strand: a completion that arrives
/// meanwhile, on this thread, is only noted, and seen to by whoever made the frame. So inline completions are a
/// loop, never a recursion.
///
/// The frames of one thread form a stack; only their own thread looks at it, so a completion on another thread
/// while the initiating function is still returning is no race.
class attempt_frame {
public:
    explicit attempt_frame(void const* given_operation) noexcept
        : operation_(given_operation)
        , outer_(innermost) {
        innermost = this;
    }
    ~attempt_frame() { innermost = outer_; }
    attempt_frame(attempt_frame const&) = delete;
    attempt_frame& operator=(attempt_frame const&) = delete;

    /// The frame of this thread that was made for `operation`; null if there is none.
    static attempt_frame* find(void const* operation) noexcept {
        attempt_frame* frame = innermost;
        while (frame && frame->operation_ != operation)
            frame = frame->outer_;
        return frame;
    }

    bool completed = false;

private:
    static inline constinit thread_local attempt_frame* innermost = nullptr;

    void const* operation_;
    attempt_frame* outer_;
};

} // namespace asio_retry::detail
