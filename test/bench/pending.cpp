// What operations cost that are pending together, behind each kind of guard, and how that grows with their
// number.
#include "flaky.hpp"
#include "hand_written.hpp"
#include "meter.hpp"
#include "plan.hpp"
#include "tally.hpp"
#include "turns.hpp"
#include "workload.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::bench {
namespace {

using namespace std::chrono_literals;

using end_of_one = count_end<tally<>>;

/// All of them are pending before the first one goes on, and they go on evenly.
duration longest_wait(std::size_t operations) {
    return 1s + 8us * static_cast<std::int64_t>(operations);
}

circuit_breaker_options stays_closed() {
    return {.min_attempts = std::numeric_limits<std::uint32_t>::max()};
}

/// Each fails once, and waits for its retry.
struct waiting {
    static constexpr bool pends_at_once = false;

    waiting(asio::io_context& on, std::size_t operations)
        : io(on)
        , how{1, longest_wait(operations), longest_wait(operations), spread::half} {}

    auto operation() { return token_operation<io_executor>{io.get_executor(), how.failures, {}}; }

    asio::io_context& io;
    plan const how;
};

struct timers_by_hand : waiting {
    static constexpr char const* name = "hand: callbacks";
    using waiting::waiting;

    void start(end_of_one handler) {
        retry_by_callback<token_operation<io_executor>, end_of_one>::start(io, operation(), how, handler);
    }
};

struct plain_waits : waiting {
    static constexpr char const* name = "async_retry";
    plain_waits(asio::io_context& on, std::size_t operations)
        : plain_waits(on, operations, [](retry_policy const& plain) { return plain; }) {}
    template <typename Guarded>
    plain_waits(asio::io_context& on, std::size_t operations, Guarded guarded)
        : waiting(on, operations)
        , policy(guarded(how.policy())) {}

    void start(end_of_one handler) { async_retry(io.get_executor(), operation(), policy, handler); }

    retry_policy const policy;
};

struct limited_waits : plain_waits {
    static constexpr char const* name = "async_retry, two time limits";
    limited_waits(asio::io_context& on, std::size_t operations)
        : plain_waits(on, operations, [](retry_policy const& plain) {
            return plain.attempt_timeout(1min).total_timeout(10min);
        }) {}
};

struct scoped_waits : plain_waits {
    static constexpr char const* name = "async_retry, one scope";
    scoped_waits(asio::io_context& on, std::size_t operations)
        : plain_waits(on, operations)
        , scope(on) {}

    void start(end_of_one handler) { async_retry(scope, operation(), policy, handler); }

    retry_scope scope;
};

struct gated_waits : plain_waits {
    static constexpr char const* name = "async_retry, circuit_breaker";
    gated_waits(asio::io_context& on, std::size_t operations)
        : plain_waits(on, operations, [](retry_policy const& plain) {
            return plain.gate(std::make_shared<circuit_breaker>(stays_closed()));
        }) {}
};

struct waits_at_endpoints : plain_waits {
    static constexpr char const* name = "async_retry, endpoint_set of 100";
    waits_at_endpoints(asio::io_context& on, std::size_t operations)
        : plain_waits(on, operations) {
        std::vector<int> numbers(100);
        std::iota(numbers.begin(), numbers.end(), 0);
        set = std::make_shared<endpoint_set<int>>(std::move(numbers),
                                                  endpoint_options{.breaker = stays_closed()});
    }

    void start(end_of_one handler) {
        auto attempt = [one = operation()](int, auto token) mutable { return one(std::move(token)); };
        async_retry(io.get_executor(), on_endpoint(std::move(attempt), set), policy, handler);
    }

    std::shared_ptr<endpoint_set<int>> set;
};

/// Each succeeds at once, when its gate admits it.
struct admitted {
    static constexpr bool pends_at_once = true;

    admitted(asio::io_context& on, retry_policy const& gated)
        : io(on)
        , policy(gated) {}

    void start(end_of_one handler) {
        async_retry(io.get_executor(), token_operation<io_executor>{io.get_executor(), 0, {}}, policy, handler);
    }

    asio::io_context& io;
    retry_policy const policy;
};

struct behind_rate_limit : admitted {
    static constexpr char const* name = "async_retry, rate_limit";
    behind_rate_limit(asio::io_context& on, std::size_t operations)
        : admitted(on, retry_policy().wait_when_refused().gate(std::make_shared<rate_limit>(
                           static_cast<std::uint32_t>(operations), longest_wait(operations)))) {}
};

struct in_queue : admitted {
    static constexpr char const* name = "async_retry, concurrency_limit with a queue";
    in_queue(asio::io_context& on, std::size_t operations)
        : admitted(on, retry_policy().gate(std::make_shared<concurrency_limit<fixed_limit>>(
                           fixed_limit(100), queue_options{.greatest = static_cast<std::uint32_t>(operations),
                                                           .longest_wait = 1h}))) {}
};

template <typename Guard>
figures measure_pending(std::size_t operations) {
    trim_heap();
    asio::io_context io(1);
    asio::steady_timer const makes_the_reactor(io);
    Guard guard(io, operations);
    tally<> ended;

    usage const before = used_so_far();
    for (std::size_t i = 0; i != operations; ++i)
        guard.start(end_of_one{&ended});
    if (!Guard::pends_at_once)
        io.poll();
    ended.expect(0, 0);
    std::int64_t const pending_bytes = live_bytes();
    io.run();
    usage const after = used_so_far();

    ended.expect(operations, 0);
    auto const count = static_cast<double>(operations);
    return {{"cpu_ns", (after.cpu_ns - before.cpu_ns) / count},
            {"bytes", static_cast<double>(pending_bytes - before.live_bytes) / count},
            {"left_bytes", static_cast<double>(after.live_bytes - before.live_bytes) / count}};
}

/// The longest turns while they begin and while they end, in a run apart: a handler that posts itself costs
/// time.
template <typename Guard>
class turns_of_pending {
public:
    explicit turns_of_pending(std::size_t operations)
        : operations_(operations)
        , guard_(io_, operations) {}

    figures measure() {
        asio::post(io_, [this] { beat(); });
        beginning_.begin();
        io_.run();
        ended_.expect(operations_, 0);
        return {{"turn_max_us", ending_.first_us()},
                {"turn_10th_us", ending_.tenth_us()},
                {"begin_turn_max_us", beginning_.first_us()}};
    }

private:
    void beat() {
        turns_of_now().end();
        for (int i = 0; i != 64 && begun_ != operations_; ++i, ++begun_)
            guard_.start(end_of_one{&ended_});
        if (ended_.succeeded + ended_.failed != operations_)
            asio::post(io_, [this] { beat(); });
        turns_of_now().begin();
    }

    longest_turns& turns_of_now() noexcept { return begun_ == operations_ ? ending_ : beginning_; }

    std::size_t const operations_;
    asio::io_context io_{1};
    asio::steady_timer const makes_the_reactor_{io_};
    Guard guard_;
    tally<> ended_;
    std::size_t begun_ = 0;
    longest_turns beginning_;
    longest_turns ending_;
};

} // namespace

workload pending(scale size) {
    workload result{
        "pending",
        "operations that are pending together, from their beginning to their end; CPU time per operation",
        3,
        {}};
    std::vector<std::size_t> sizes{1'000, 10'000};
    if (!size.quick)
        sizes.insert(sizes.end(), {100'000, 1'000'000});
    auto const add = [&]<typename Guard>() {
        for (std::size_t const operations : sizes)
            result.contenders.push_back(
                {std::string(Guard::name) + ", " + std::to_string(operations),
                 [operations] { return measure_pending<Guard>(operations); },
                 [operations] { return turns_of_pending<Guard>(operations).measure(); }});
    };
    add.operator()<timers_by_hand>();
    add.operator()<plain_waits>();
    add.operator()<limited_waits>();
    add.operator()<scoped_waits>();
    add.operator()<gated_waits>();
    add.operator()<waits_at_endpoints>();
    add.operator()<behind_rate_limit>();
    add.operator()<in_queue>();
    return result;
}

} // namespace asio_retry::bench
