#pragma once

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/traffic/endpoint_table.hpp>
#include <asio_retry/detail/traffic/value_finder.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry {

/// The options of an `endpoint_set`.
struct endpoint_options {
    circuit_breaker_options breaker = {.consecutive = 5}; ///< of each endpoint. A slow one is ejected for its
                                                          ///< `open_for`, and for longer each time until its
                                                          ///< latency is that of the others
    double greatest_ejected = 0.5; ///< slowness ejects at most this share of the endpoints, in [0, 1]
    double slow_factor = 4;        ///< slow: this many times the median latency of the others; more than 1
    std::uint32_t slow_least = 20; ///< ejected after this many slow successes in a row, at least 1
    saturating_duration remembered =
        std::chrono::seconds(60); ///< for so long the set knows an endpoint that has left it; 0: not at all
};

/// What an `endpoint_set` knows of one endpoint.
struct endpoint_status {
    breaker_state state = breaker_state::closed; ///< state of its circuit breaker
    std::uint32_t in_flight = 0;                 ///< attempts that run
    double rate = 0;                             ///< share of failures among its recent attempts
    duration latency{};                          ///< median of its last successes; zero while it is unknown
    time_point ejected_until =
        (time_point::min)(); ///< when it is asked again at the latest; min() if it is not ejected.
                             ///< `elapsed_between(now, ejected_until)` is how long
    time_point resting_until =
        (time_point::min)(); ///< until when its server wants to be left alone; min() if it does not
};

namespace detail {

/// An endpoint, and what is known of it.
template <typename Endpoint>
struct endpoint_value final : endpoint_record {
    using listener = std::function<void(Endpoint const&, breaker_state, breaker_state, time_point)>;

    /// `told` hears of the breaker's changes, unless it is null.
    endpoint_value(Endpoint given, circuit_breaker_options const& options,
                   std::shared_ptr<listener const> const& told)
        : endpoint_record(told ? with_endpoint(this, options, told) : options)
        , value(std::move(given)) {}

    Endpoint const value;

private:
    /// `one` is not constructed yet.
    static circuit_breaker_options with_endpoint(endpoint_value const* one, circuit_breaker_options options,
                                                 std::shared_ptr<listener const> told) {
        options.on_change = [one, of_all = std::move(options.on_change),
                             told = std::move(told)](breaker_state from, breaker_state to, time_point now) {
            if (of_all)
                of_all(from, to, now);
            (*told)(one->value, from, to, now);
        };
        return options;
    }
};

struct endpoint_access;

} // namespace detail

/// Chooses one of several servers for each attempt, and ejects the servers that fail or are slow.
///
/// All operations that ask the same servers share one set.
///
/// - Choice: the set draws two endpoints at random, and takes the one with fewer attempts in flight. If both
///   have as many, it takes the clearly faster one, and now and then the other. It draws only endpoints that
///   the operation has not tried. After all of them it takes the one tried longest ago.
/// - Weighed: if one of the two has failed clearly more often in its last 64 answers, being free or fast does
///   not help. It gets at most its share of the attempts (1/n), and less as its share of successes falls, down
///   to a sixteenth of it. Failures of any kind count, even if a breaker takes them for answers.
/// - Each endpoint has a `circuit_breaker`, and is ejected while that refuses attempts.
/// - An endpoint is ejected too if its latency is `slow_factor` times the median of the others for `slow_least`
///   successes in a row. Its latency is the median of its last 15 successes. An attempt of a hedge that a later
///   attempt has beaten counts as such a success. After `breaker.open_for` the endpoint is asked again, and its
///   latency is learnt anew. If it is still slow, it is ejected for `breaker.growth` times as long.
/// - Slowness ejects an endpoint only while at most `greatest_ejected` of all are out, and never the last one.
///   If breakers open beyond that, the slow endpoint that is due first is asked again. No share limits
///   how many breakers are open.
/// - If the breakers refuse all endpoints and none of them rests, an attempt is refused with
///   error::circuit_open, until the first may be asked. While probes run, the refusal names no time, and an
///   operation that waits goes by its backoff.
///
/// Rest: an endpoint rests if an attempt there fails with a server's wish, such as a Retry-After
/// (`pushback::after`). No operation asks it before that time. The operation goes on at another endpoint, after
/// its own backoff. Rest is no ejection, and `greatest_ejected` does not limit it.
///
/// - If no endpoint may be asked and one of them rests, an attempt waits until the first one may be asked. A
///   first attempt waits too, also without `wait_when_refused`.
/// - `pushback_limit` limits these waits of one attempt together. If the limit ends the operation, the reason
///   is `pushback`. The error is the failure before, or error::cooling_down.
/// - If `over_limit::clamp`, `over_limit::ignore` or `retry_now` cuts the wait short, the attempt asks the
///   endpoint whose rest ends first.
/// - `pushback::never` ends the operation, as without a set. The endpoint does not rest.
///
/// If all endpoints become slow, none is ejected, because each is compared with the others.
///
/// Changes: the set calls the `on_change` of its constructor when a breaker's state changes, as
/// `circuit_breaker` says, with the endpoint. It is called without a lock and may use the set. If
/// `breaker.on_change` is set, all breakers call it first.
///
/// Units: latencies are known in steps of an eighth.
/// Lifetime: an operation keeps the last 64 endpoints that it has tried, also if the set no longer has them. An
/// attempt keeps its endpoint until it has ended.
/// Thread safety: call any function from any thread.
template <typename Endpoint>
class endpoint_set {
    static_assert(detail::ordered<Endpoint> || std::equality_comparable<Endpoint>,
                  "an Endpoint has to have a < or a ==");

public:
    /// Throws std::invalid_argument for an option outside its range, if there is no endpoint, and for an
    /// endpoint that is there twice. `on_change` may be empty.
    explicit endpoint_set(
        std::vector<Endpoint> endpoints, endpoint_options const& options = {},
        std::function<void(Endpoint const& endpoint, breaker_state from, breaker_state to, time_point now)>
            on_change = {})
        : breaker_(detail::endpoint_table::checked(options).breaker)
        , on_change_(on_change ? std::make_shared<listener const>(std::move(on_change)) : nullptr)
        , table_(std::make_shared<detail::endpoint_table>(options, made_of(std::move(endpoints), list()))) {}

    /// Explains in a compiler error what `on_change` takes.
    template <typename OnChange>
        requires(!std::convertible_to<OnChange, typename detail::endpoint_value<Endpoint>::listener>)
    endpoint_set(std::vector<Endpoint> endpoints, endpoint_options const& options, OnChange const&)
        : endpoint_set(std::move(endpoints), options) {
        static_assert(std::convertible_to<OnChange, listener>,
                      "endpoint_set: on_change takes (Endpoint const&, breaker_state from, breaker_state to, "
                      "time_point)");
    }
    endpoint_set(endpoint_set const&) = delete;
    endpoint_set& operator=(endpoint_set const&) = delete;

    /// Replaces the endpoints by these. Keeps its knowledge of the endpoints that stay.
    ///
    /// An endpoint that comes back within `endpoint_options::remembered` is known too: its breaker, its rest,
    /// its latency and its answers are as if it had stayed. Pass the time of a `virtual_time` as `now`.
    /// Endpoints that are forgotten are destroyed by the next call.
    ///
    /// An endpoint stays if a new one is equal to it, by `<` if there is one. The set goes on with the value
    /// that it had, so the comparison must include everything that decides where to connect.
    ///
    /// Attempts that run at an endpoint that does not stay go on. Throws as the constructor does; then the set
    /// is unchanged.
    void assign(std::vector<Endpoint> endpoints, time_point now = std::chrono::steady_clock::now()) {
        detail::endpoint_table::remains earlier; // destroyed without the lock
        std::lock_guard const lock(assigning_);
        earlier = table_->assign(made_of(std::move(endpoints), table_->known(now)), now);
    }

    /// Calls `f(Endpoint const&, endpoint_status const&)` for each endpoint, in the order in which they were
    /// given.
    ///
    /// `f` may use the set. Pass the time of a `virtual_time` as `now`.
    template <typename Function>
    void for_each(Function&& f, time_point now = std::chrono::steady_clock::now()) const {
        auto const all = table_->endpoints();
        for (auto const& each : *all)
            f(static_cast<known const&>(*each).value, each->status(now));
    }

private:
    friend detail::endpoint_access;

    using known = detail::endpoint_value<Endpoint>;
    using list = detail::endpoint_table::list;
    using listener = typename known::listener;

    list made_of(std::vector<Endpoint> given, list const& present) const {
        refuse_bad(given);
        std::vector<Endpoint const*> values;
        for (auto const& each : present)
            values.push_back(&static_cast<known const&>(*each).value);
        detail::value_finder<Endpoint> const finder(std::move(values));
        list made;
        for (Endpoint& each : given) {
            std::size_t const at = finder.find(each);
            made.push_back(at < present.size()
                               ? present[at]
                               : std::make_shared<known>(std::move(each), breaker_, on_change_));
        }
        return made;
    }

    static void refuse_bad(std::vector<Endpoint> const& given) {
        if (given.empty())
            detail::refuse("endpoint_set.endpoints", "empty", "must have an endpoint");
        std::vector<Endpoint const*> values;
        for (Endpoint const& each : given)
            values.push_back(&each);
        detail::value_finder<Endpoint> const finder(std::move(values));
        for (std::size_t i = 0; i < given.size(); ++i)
            if (std::size_t const earlier = finder.find(given[i]); earlier < i)
                detail::refuse("endpoint_set.endpoints[" + std::to_string(i) + "]",
                               "endpoints[" + std::to_string(earlier) + "]", "must not be there twice");
    }

    std::mutex assigning_;
    circuit_breaker_options const breaker_;
    std::shared_ptr<listener const> const on_change_; // null if there is none
    std::shared_ptr<detail::endpoint_table> const table_;
};

namespace detail {

/// The parts of a set that operations use.
struct endpoint_access {
    template <typename Endpoint>
    static std::shared_ptr<endpoint_table> const& table(endpoint_set<Endpoint> const& set) noexcept {
        return set.table_;
    }

    /// Precondition: the record is of an `endpoint_set<Endpoint>`.
    template <typename Endpoint>
    static Endpoint const& value(endpoint_record const& record) noexcept {
        return static_cast<endpoint_value<Endpoint> const&>(record).value;
    }
};

} // namespace detail
} // namespace asio_retry
