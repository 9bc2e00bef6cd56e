#include <asio_retry/observe/retry_traces.hpp>

#include "observe/exposition.hpp"
#include "observe/span.hpp"
#include "observe/trace_parent.hpp"
#include "policy/shown_text.hpp"
#include "policy/utf_8.hpp"
#include "traffic/option_rules.hpp"

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/random.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace asio_retry {
namespace detail {
namespace {

trace_options checked(trace_options const& o) {
    if (!is_utf_8(o.service))
        refuse("retry_traces.service", shown(o.service), "must be UTF-8");
    demand(0 <= o.sampled && o.sampled <= 1, "retry_traces.sampled", o.sampled, "must be in [0, 1]");
    demand(1 <= o.greatest && o.greatest <= 10'000'000, "retry_traces.greatest", o.greatest,
           "must be from 1 to 10000000");
    return o;
}

std::int64_t system_time_of_zero() {
    using std::chrono::nanoseconds;
    auto const system = std::chrono::system_clock::now().time_since_epoch();
    auto const steady = std::chrono::steady_clock::now().time_since_epoch();
    return (std::chrono::duration_cast<nanoseconds>(system) - steady).count();
}

/// Its multiples modulo 2^64 are spread evenly, also those of every n-th operation.
constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;

/// A share in parts of 2^64, at most 2^64 - 1.
std::uint64_t parts_of(double share) noexcept {
    double const parts = share * 0x1p64;
    return parts < 0x1p64 ? static_cast<std::uint64_t>(parts) : ~std::uint64_t(0);
}

/// The id for a random number. No id is 0.
std::uint64_t id_of(std::uint64_t drawn) noexcept {
    return drawn == 0 ? 1 : drawn;
}

} // namespace

/// The spans of all operations that one `retry_traces` hears of.
///
/// The events of one operation come one after the other, so that only the tables need the mutex.
class trace_store {
public:
    explicit trace_store(trace_options const& options)
        : service_(options.service)
        , greatest_sampled_(parts_of(options.sampled))
        , greatest_(options.greatest)
        , seed_(options.seed ? *options.seed : entropy_seed())
        , epoch_(options.epoch ? options.epoch->time_since_epoch().count() : system_time_of_zero()) {
        running_.reserve(std::min<std::size_t>(greatest_, 1'000));
    }

    bool is_sampled(std::uint64_t operation) noexcept {
        return greatest_sampled_ != 0 && seed_ + ordinal_of(operation) * golden_ratio <= greatest_sampled_;
    }

    /// The ids of an attempt, or of the operation itself: number 0.
    trace_parent ids(std::uint64_t operation, std::uint64_t attempt, trace_parent const& parent) noexcept {
        std::uint64_t const ordinal = operation == 0 ? next_unsampled() : ordinal_of(operation);
        bool const samples = parent.is_present ? parent.is_sampled : operation != 0 && is_sampled(operation);
        random of_trace(seed_, ordinal);
        trace_parent result = parent;
        if (!parent.is_present) {
            result.trace_high = id_of(of_trace());
            result.trace_low = of_trace();
        }
        result.span = id_of(random(seed_ + 1 + attempt, ordinal)());
        result.is_sampled = samples;
        result.is_present = true;
        return result;
    }

    /// `by` is the observer that tells.
    void hear(observation const& event, trace_parent const& parent, retry_observer const& by) noexcept {
        try {
            hear_of(event, parent, by);
        } catch (...) {
            ++dropped_;
        }
    }

    /// Puts the spans back if there is no memory for their text.
    std::string otlp_json(std::size_t most) {
        std::list<trace_span> taken;
        {
            std::lock_guard const lock(mutex_);
            auto const count = static_cast<std::ptrdiff_t>(std::min(most, ended_.size()));
            taken.splice(taken.end(), ended_, ended_.begin(), std::next(ended_.begin(), count));
        }
        try {
            std::string text = otlp_text(service_, taken, epoch_);
            kept_ -= taken.size();
            return text;
        } catch (...) {
            std::lock_guard const lock(mutex_);
            ended_.splice(ended_.begin(), taken);
            throw;
        }
    }

    std::size_t ended() const noexcept {
        std::lock_guard const lock(mutex_);
        return ended_.size();
    }

    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    /// A running operation. One thread at a time uses it.
    struct operation_trace {
        trace_span whole;
        std::vector<trace_span> attempts; // that run
        trace_parent parent;
        retry_observer const* told_by = nullptr; // only compared
    };

    /// The first operation that this object hears of has the ordinal 1, so that ids are repeatable.
    std::uint64_t ordinal_of(std::uint64_t operation) noexcept {
        std::uint64_t first = first_.load(std::memory_order_relaxed);
        if (first == 0 && first_.compare_exchange_strong(first, operation, std::memory_order_relaxed))
            first = operation;
        return operation - first + 1;
    }

    std::uint64_t next_unsampled() noexcept { return ~unsampled_.fetch_add(1, std::memory_order_relaxed); }

    bool take_room() noexcept {
        std::size_t kept = kept_.load(std::memory_order_relaxed);
        while (kept < greatest_)
            if (kept_.compare_exchange_weak(kept, kept + 1, std::memory_order_relaxed))
                return true;
        ++dropped_;
        return false;
    }

    void hear_of(observation const& event, trace_parent const& parent, retry_observer const& by) {
        using enum observation::kind;
        operation_trace* const found = find(event.operation);
        if (event.what == started)
            return begin(found, event, parent, by);
        if (found && found->told_by != &by)
            return;
        switch (event.what) {
        case started:
            break;
        case attempt_began:
            return begin_attempt(found, event);
        case attempt_ended:
            if (found)
                end_attempt(*found, event);
            break;
        case retry_decided:
        case refused:
        case held:
            if (found)
                found->whole.add(event);
            break;
        case ended:
            if (found)
                end(*found, event);
            break;
        }
    }

    operation_trace* find(std::uint64_t operation) noexcept {
        std::lock_guard const lock(mutex_);
        auto const found = running_.find(operation);
        return found == running_.end() ? nullptr : &found->second; // only this operation erases it
    }

    /// If two observers of this object hear of one operation, it is traced once. It continues the trace of the
    /// request that one of them knows.
    void begin(operation_trace* known, observation const& event, trace_parent const& parent,
               retry_observer const& by) {
        if (known && !known->parent.is_present)
            begin_whole(*known, event, parent, by);
        if (known)
            return;
        if (!take_room())
            return;
        operation_trace made;
        try {
            begin_whole(made, event, parent, by);
            std::lock_guard const lock(mutex_);
            running_.emplace(event.operation, std::move(made));
        } catch (...) {
            --kept_;
            throw;
        }
    }

    void begin_whole(operation_trace& of, observation const& event, trace_parent const& parent,
                     retry_observer const& by) {
        of.whole.policy = event.policy;
        of.told_by = &by;
        of.parent = parent;
        of.whole.ids = ids(event.operation, 0, parent);
        of.whole.parent = parent.is_present ? parent.span : 0;
        of.whole.has_remote_parent = parent.is_present;
        of.whole.is_hedge = event.is_hedge;
        of.whole.operation = event.operation;
        of.whole.start = event.now;
    }

    void begin_attempt(operation_trace* of, observation const& event) {
        if (!of) { // the operation was dropped
            ++dropped_;
            return;
        }
        if (std::ranges::find(of->attempts, event.attempt, &trace_span::attempt) != of->attempts.end())
            return; // its policy has this observer twice
        if (event.is_hedge && event.attempt > 1)
            of->whole.add(event);
        if (!take_room())
            return;
        trace_span made;
        made.ids = ids(event.operation, event.attempt, of->parent);
        made.parent = of->whole.ids.span;
        made.is_hedge = event.is_hedge;
        made.operation = event.operation;
        made.attempt = event.attempt;
        made.start = event.now;
        try {
            made.policy = event.policy;
            of->attempts.push_back(std::move(made));
        } catch (...) {
            --kept_;
            throw;
        }
    }

    void end_attempt(operation_trace& of, observation const& event) {
        auto const found = std::ranges::find(of.attempts, event.attempt, &trace_span::attempt);
        if (found == of.attempts.end())
            return;
        trace_span closed = std::move(*found);
        of.attempts.erase(found);
        keep(std::move(closed), event);
    }

    void end(operation_trace& of, observation const& event) {
        trace_span closed = std::move(of.whole);
        {
            std::lock_guard const lock(mutex_);
            running_.erase(event.operation);
        }
        keep(std::move(closed), event);
    }

    void keep(trace_span span, observation const& event) {
        try {
            span.close(event);
            std::list<trace_span> one;
            one.push_back(std::move(span));
            std::lock_guard const lock(mutex_);
            ended_.splice(ended_.end(), one);
        } catch (...) {
            --kept_;
            throw;
        }
    }

    std::string const service_;
    std::uint64_t const greatest_sampled_;
    std::size_t const greatest_;
    std::uint64_t const seed_;
    std::int64_t const epoch_;
    std::atomic<std::uint64_t> first_ = 0;
    std::atomic<std::uint64_t> unsampled_ = 0;
    std::atomic<std::size_t> kept_ = 0; // spans in memory
    std::atomic<std::uint64_t> dropped_ = 0;
    std::mutex mutable mutex_;
    std::unordered_map<std::uint64_t, operation_trace> running_;
    std::list<trace_span> ended_;
};

} // namespace detail

// --- requests

request_trace::request_trace(std::shared_ptr<detail::trace_store> store, detail::trace_parent const& parent)
    : store_(std::move(store))
    , parent_(std::make_unique<detail::trace_parent const>(parent)) {}

request_trace::~request_trace() = default;

std::string request_trace::traceparent(attempt const& which) const {
    if (parent_->is_present && !parent_->is_sampled)
        return detail::to_field(*parent_);
    return detail::to_field(store_->ids(which.operation(), which.number, *parent_));
}

bool request_trace::wants(std::uint64_t operation) noexcept {
    return parent_->is_present ? parent_->is_sampled : store_->is_sampled(operation);
}

void request_trace::on_event(observation const& event) noexcept {
    store_->hear(event, *parent_, *this);
}

// --- all operations

retry_traces::retry_traces(trace_options const& options)
    : store_(std::make_shared<detail::trace_store>(detail::checked(options))) {}

retry_traces::~retry_traces() = default;

std::string retry_traces::traceparent(attempt const& which) const {
    return detail::to_field(store_->ids(which.operation(), which.number, {}));
}

std::shared_ptr<request_trace> retry_traces::request(std::string_view traceparent) const {
    detail::trace_parent const parent = detail::parse_traceparent(traceparent);
    return std::shared_ptr<request_trace>(new request_trace(store_, parent));
}

std::string retry_traces::otlp_json(std::size_t most) {
    return store_->otlp_json(most);
}

std::size_t retry_traces::ended() const noexcept {
    return store_->ended();
}

std::uint64_t retry_traces::dropped() const noexcept {
    return store_->dropped();
}

bool retry_traces::wants(std::uint64_t operation) noexcept {
    return store_->is_sampled(operation);
}

void retry_traces::on_event(observation const& event) noexcept {
    store_->hear(event, {}, *this);
}

} // namespace asio_retry
