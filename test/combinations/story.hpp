#pragma once

#include <asio_retry/retry_policy.hpp>

#include "support/forgotten_handler.hpp"
#include "support/scripted_operation.hpp"
#include "support/tracking_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace asio_retry::test {

using namespace std::chrono_literals;

/// What a completion comes to, whatever its signature.
struct outcome {
    error_code error;
    std::optional<int> value;

    friend bool operator==(outcome const&, outcome const&) = default;
    friend std::ostream& operator<<(std::ostream& out, outcome const& o) {
        out << o.error;
        return o.value ? out << " with " << *o.value : out;
    }
};

inline error_code failure_of(error_code const& ec) {
    return ec;
}
inline error_code failure_of(std::exception_ptr const& e) {
    return e ? code_of(e) : error_code();
}

template <typename Failure>
outcome outcome_of(Failure const& failure) {
    return {failure_of(failure), std::nullopt};
}
template <typename Failure>
outcome outcome_of(Failure const& failure, int value) {
    return {failure_of(failure), value};
}

template <typename... Values>
outcome outcome_of(std::tuple<Values...> const& values) {
    return std::apply([](auto const&... each) { return outcome_of(each...); }, values);
}

/// What is to be expected of a form of operation.
struct form_facts {
    bool has_steps; ///< its attempts are asynchronous
    bool has_value;
    bool is_judged; ///< it never fails; its results do
    bool is_hooked; ///< it has hooks of its own
};

/// One retried operation: how its attempts end, what is called on the way and through which executor.
class story {
public:
    static constexpr duration delay = 20us;

    /// The first `failures` attempts fail; three may be made.
    story(std::uint64_t failures, asio::any_io_executor background)
        : failures_(failures)
        , background_(std::move(background)) {}

    /// Where the attempts do their work: through no tracking_executor.
    asio::any_io_executor const& background() const { return background_; }

    /// An attempt begins. The first one does so where the operation was initiated.
    error_code next_attempt() {
        std::lock_guard const lock(mutex_);
        if (++attempts_ != 1)
            seen_["attempt"].push_back(running_on);
        return fails() && !results_judged_ ? refused() : error_code();
    }

    /// The same for one of two steps, of which the first runs on `executor` and the second completes it there.
    template <typename Executor>
    void begin_attempt(Executor const& executor, std::unique_ptr<forgotten_handler> handler) {
        error_code const ec = next_attempt();
        auto step = [this, ec, executor, handler = std::move(handler)]() mutable {
            see("step");
            auto complete = [ec, value = attempts(), handler = std::move(handler)] {
                handler->complete(ec, value);
            };
            asio::post(background_, asio::bind_executor(executor, std::move(complete)));
        };
        asio::post(background_, asio::bind_executor(executor, std::move(step)));
    }

    /// From now on the results fail, and not the attempts.
    void judge_results() { results_judged_ = true; }
    bool rejects() const {
        std::lock_guard const lock(mutex_);
        return fails();
    }

    int attempts() const {
        std::lock_guard const lock(mutex_);
        return static_cast<int>(attempts_);
    }

    void see(std::string const& what) {
        std::lock_guard const lock(mutex_);
        seen_[what].push_back(running_on);
    }

    /// The operation completed, here.
    void complete(outcome const& result) {
        see("handler");
        complete_elsewhere(result);
    }
    void complete_elsewhere(outcome const& result) {
        std::lock_guard const lock(mutex_);
        results_.push_back(result);
    }

    /// A policy, each of whose callables is seen.
    retry_policy policy();

    /// Whatever was called was called through the executor `number`.
    void expect_called_on(int number) const;

    /// The same, and everything was called as often as it should be. Returns how long the waits are in all.
    duration expect_called(form_facts const& form, int number, bool handler_is_seen) const;

    void expect_result(form_facts const& form) const;

    std::vector<outcome> results() const {
        std::lock_guard const lock(mutex_);
        return results_;
    }

private:
    bool fails() const { return attempts_ <= failures_; }

    std::uint64_t const failures_;
    asio::any_io_executor const background_;
    mutable std::mutex mutex_;
    std::uint64_t attempts_ = 0;
    bool results_judged_ = false;
    std::map<std::string, std::vector<int>> seen_;
    std::vector<outcome> results_;
};

} // namespace asio_retry::test
