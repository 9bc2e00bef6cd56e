#pragma once

#include <asio_retry/retry_observer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gateway {

/// Why one request has failed, and why it was not tried again, in words. Used where the request is answered.
class failure_words final : public asio_retry::retry_observer {
public:
    /// "HTTP 503, retry after 1 s", "attempt timed out after 500 ms", "Connection refused"; empty after a
    /// success.
    std::string const& cause() const noexcept { return cause_; }

    /// "retry_budget refused the retry", "no attempt is left"; empty after a success, and if the cause is why.
    std::string const& end() const noexcept { return end_; }

    void on_event(asio_retry::observation const& event) noexcept override {
        using enum asio_retry::observation::kind;
        try {
            if (event.what == attempt_began)
                refusal_.clear();
            else if (event.what == refused)
                refusal_ = event.message();
            else if (event.what == ended && event.reason != asio_retry::stop_reason::succeeded)
                note_end(event);
        } catch (std::exception const&) { // no memory for words
        }
    }

private:
    void note_end(asio_retry::observation const& event) {
        bool const nobody_was_asked = event.error == asio_retry::condition::refused && !refusal_.empty();
        cause_ = nobody_was_asked ? refusal_ : message_of(event);
        end_ = nobody_was_asked ? std::string() : why_no_other(event.reason);
    }

    /// The text of an exception that has a code ends with the place in Asio, which is of no use here.
    static std::string message_of(asio_retry::observation const& event) {
        bool const has_code =
            event.exception && event.error && event.error != asio_retry::error::operation_threw;
        return has_code && event.stopped == asio_retry::interruption::none ? event.error.message()
                                                                           : event.message();
    }

    std::string why_no_other(asio_retry::stop_reason reason) const {
        using enum asio_retry::stop_reason;
        switch (reason) {
        case succeeded:
            break;
        case not_retryable:
            return "another attempt would not help, or would do it twice";
        case attempts:
            return "no attempt is left";
        case elapsed:
        case deadline:
            return "no time is left";
        case budget:
        case refused:
            return refusal_;
        case pushback:
            return "the server wishes a longer pause than is allowed";
        case cancelled:
            return "the gateway shuts down";
        }
        return {};
    }

    std::string cause_, end_, refusal_;
};

/// The last requests that were answered with a failure of a server or of the gateway. Thread-safe.
class recent_failures {
public:
    struct failure {
        std::string method, target;
        unsigned status = 0;
        std::uint64_t attempts = 0;
        std::chrono::milliseconds took{};
        std::string cause, end; ///< as failure_words has them
        std::chrono::system_clock::time_point at = std::chrono::system_clock::now();
    };

    void add(failure one) {
        std::lock_guard const lock(mutex_);
        failures_.push_front(std::move(one));
        if (failures_.size() > greatest)
            failures_.pop_back();
    }

    std::vector<failure> newest_first() const {
        std::lock_guard const lock(mutex_);
        return {failures_.begin(), failures_.end()};
    }

private:
    static constexpr std::size_t greatest = 20;

    std::mutex mutable mutex_;
    std::deque<failure> failures_;
};

} // namespace gateway
