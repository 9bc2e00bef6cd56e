#pragma once

#include "event_queue.hpp"

#include <asio_retry/traffic/fleet_budget.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace asio_retry::lab {

/// Behaves like the script of a `fleet_budget`, 2 ms away.
class simulated_store {
public:
    simulated_store(event_queue& events, double capacity, double per_second)
        : events_(events)
        , capacity_(capacity)
        , per_second_(per_second)
        , tokens_(capacity) {}

    bool is_up = true;

    /// `answer` gets nothing while the store is down.
    void ask(fleet_request const& request, std::function<void(std::optional<std::uint32_t>)> answer) {
        events_.after(std::chrono::milliseconds(1), [this, request, answer = std::move(answer)]() mutable {
            std::optional<std::uint32_t> granted;
            if (is_up)
                granted = grant(request);
            events_.after(std::chrono::milliseconds(1),
                          [granted, answer = std::move(answer)] { answer(granted); });
        });
    }

private:
    std::uint32_t grant(fleet_request const& request) {
        double const passed = std::chrono::duration<double>(events_.now() - at_).count();
        at_ = events_.now();
        tokens_ = std::min(capacity_, tokens_ + request.earned + per_second_ * passed);
        double const granted = std::min<double>(request.wanted, std::floor(tokens_));
        tokens_ -= granted;
        return static_cast<std::uint32_t>(granted);
    }

    event_queue& events_;
    double const capacity_;
    double const per_second_;
    double tokens_;
    time_point at_{};
};

/// Carries the questions of a budget to a store: when a retry has been decided, and afterwards as long as a
/// question may be held back.
class simulated_driver final : public retry_gate, public std::enable_shared_from_this<simulated_driver> {
public:
    /// Calls `asked` for each question.
    simulated_driver(event_queue& events, simulated_store& store, fleet_budget_options const& options,
                     std::function<void()> asked)
        : events_(events)
        , store_(store)
        , budget_(std::make_shared<fleet_budget>(options))
        , asked_(std::move(asked))
        , greatest_looks_(static_cast<int>(options.interval / between_looks) + 2) {
        (void)budget_->poll(events.now()); // the first look begins its time
    }

    /// The gate for a policy.
    std::shared_ptr<retry_gate> gate() { return all_gates({budget_, shared_from_this()}); }

    bool acquire(failure_kind, time_point) noexcept override {
        if (looks_ == 0)
            events_.after(duration::zero(), [self = shared_from_this()] { self->look(); });
        looks_ = greatest_looks_;
        return true;
    }

private:
    static constexpr duration between_looks = std::chrono::milliseconds(100);

    void look() {
        if (auto const request = budget_->poll(events_.now())) {
            asked_();
            store_.ask(*request, [self = shared_from_this()](std::optional<std::uint32_t> granted) {
                if (granted)
                    self->budget_->on_granted(*granted, self->events_.now());
                else
                    self->budget_->on_unavailable(self->events_.now());
            });
        }
        if (--looks_ > 0)
            events_.after(between_looks, [self = shared_from_this()] { self->look(); });
    }

    event_queue& events_;
    simulated_store& store_;
    std::shared_ptr<fleet_budget> const budget_;
    std::function<void()> const asked_;
    int const greatest_looks_;
    int looks_ = 0; // looks that are left
};

} // namespace asio_retry::lab
