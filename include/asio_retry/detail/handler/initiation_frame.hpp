#pragma once

namespace asio_retry::detail {

/// Tells a completion that arrives while its attempt is still being initiated from one that arrives later.
///
/// Initiations of one thread form a stack; only their own thread looks at it, so a completion on another thread
/// while the initiating function is still returning is no race. It turns inline completions into a loop, never
/// a recursion.
class initiation_frame {
public:
    explicit initiation_frame(void const* operation) noexcept
        : operation_(operation)
        , outer_(innermost) {
        innermost = this;
    }
    ~initiation_frame() { innermost = outer_; }
    initiation_frame(initiation_frame const&) = delete;
    initiation_frame& operator=(initiation_frame const&) = delete;

    /// The frame in which this thread is initiating an attempt of `operation`; null if it is not.
    static initiation_frame* find(void const* operation) noexcept {
        initiation_frame* frame = innermost;
        while (frame && frame->operation_ != operation)
            frame = frame->outer_;
        return frame;
    }

private:
    static inline constinit thread_local initiation_frame* innermost = nullptr;

    void const* operation_;
    initiation_frame* outer_;
};

/// While this thread starts an attempt, or tells it something.
struct attempt_frame : initiation_frame {
    using initiation_frame::initiation_frame;
    bool completed = false;
};

} // namespace asio_retry::detail
