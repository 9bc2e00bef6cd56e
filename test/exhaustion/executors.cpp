#include "exhaustion/scenarios.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

namespace asio_retry::test {

std::vector<scenario> executors() {
    auto const plays_on = [](auto make_executor, auto operation) {
        return [=](auto& t) {
            auto& s = failing(t, 2);
            retry_policy const policy = t.with_memory(patient);
            auto const executor = t.with_memory([&] { return make_executor(t); });
            t.start({},
                    [&](auto handler) { async_retry(executor, operation(t, s), policy, std::move(handler)); });
        };
    };
    auto const inline_of = [](trial&, script& s) { return completing_inline(s); };
    auto const any = [](trial& t) { return asio::any_io_executor(t.io.get_executor()); };
    auto const strand = [](trial& t) { return asio::make_strand(t.io); };
    auto const any_strand = [](trial& t) { return asio::any_io_executor(asio::make_strand(t.io)); };
    auto const bound_to_a_strand = [](auto& t) {
        auto& s = failing(t, 2);
        retry_policy const policy = t.with_memory(patient);
        auto const executor = t.with_memory([&] { return asio::make_strand(t.io); });
        t.start({}, [&](auto handler) {
            async_retry(t.io, completing_inline(s), policy, asio::bind_executor(executor, std::move(handler)));
        });
    };
    auto const in_a_pool = [](auto& t) {
        auto& s = failing(t, 2);
        auto& pool = keep<asio::thread_pool>(t, 1);
        retry_policy const policy = t.with_memory([] { return eager().backoff(constant(1ns)); });
        t.start({}, [&](auto handler) { async_retry(pool, completing_inline(s), policy, std::move(handler)); });
        pool.join();
    };

    std::vector<scenario> all = {
        make_scenario("any_io_executor", plays_on(any, posting)),
        make_scenario("any_io_executor_inline", plays_on(any, inline_of)),
        make_scenario("thread_pool", in_a_pool, clock_kind::steady),
    };
    all.back().once_only = true; // the pool waits for memory
    std::vector<scenario> const on_a_strand = {
        make_scenario("strand", plays_on(strand, inline_of)),
        make_scenario("any_io_executor_of_a_strand", plays_on(any_strand, inline_of)),
        make_scenario("handler_bound_to_a_strand", bound_to_a_strand),
    };
    for (scenario one : on_a_strand) {
        // A strand that has no memory to queue itself keeps what it was given, and never runs again.
        one.may_lose_work = true;
        all.push_back(one);
    }
    return all;
}

} // namespace asio_retry::test
