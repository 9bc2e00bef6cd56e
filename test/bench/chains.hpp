#pragma once

// Operations one after the other, on several chains at once.

#include "contenders.hpp"
#include "meter.hpp"
#include "plan.hpp"
#include "result.hpp"
#include "tally.hpp"
#include "workload.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstddef>
#include <utility>

namespace asio_retry::bench {

struct chain_shape {
    std::size_t chains;
    std::size_t calls; ///< of each chain
    plan how;
};

template <typename Contender>
concept awaited = requires { typename Contender::executor_type; };

template <typename Call>
inline constexpr bool gives_nothing = false;
template <typename Executor>
inline constexpr bool gives_nothing<asio::awaitable<void, Executor>> = true;

struct chain_context {
    asio::io_context& io;
    plan how;
    retry_policy policy;
    tally<> ended{};
};

template <awaited Contender>
asio::awaitable<void, typename Contender::executor_type> coroutine_chain(chain_context& all,
                                                                         std::size_t calls) {
    count_end<tally<>> const count{&all.ended};
    for (; calls != 0; --calls) {
        auto call = Contender::call(all.io, all.how, all.policy, unobserved());
        if constexpr (gives_nothing<decltype(call)>) {
            co_await std::move(call);
            count();
        } else {
            auto const result = co_await std::move(call);
            count(result);
        }
    }
}

template <typename Contender>
struct callback_chain {
    chain_context& all;
    std::size_t calls;

    struct next {
        callback_chain* chain;
        void operator()(error_code code) const {
            count_end<tally<>>{&chain->all.ended}(code);
            if (--chain->calls == 0)
                delete chain;
            else
                chain->call();
        }
    };

    void call() { Contender::start(all.io, all.how, all.policy, unobserved(), next{this}); }
};

/// What is kept from one call of a chain to the next.
template <awaited Contender>
    requires requires { typename Contender::kept; }
asio::awaitable<void, typename Contender::executor_type> coroutine_chain(chain_context& all,
                                                                         std::size_t calls) {
    count_end<tally<>> const count{&all.ended};
    typename Contender::kept kept(co_await asio::this_coro::executor);
    for (; calls != 0; --calls) {
        auto const result = co_await Contender::call(all.io, all.how, kept);
        count(result);
    }
}

template <typename Contender>
typename Contender::executor_type executor_of(asio::io_context& io) {
    if constexpr (requires { Contender::executor(io); })
        return Contender::executor(io);
    else
        return io.get_executor();
}

template <typename Contender>
void start_chain(chain_context& all, std::size_t calls) {
    if constexpr (awaited<Contender>) {
        asio::co_spawn(executor_of<Contender>(all.io), coroutine_chain<Contender>(all, calls),
                       [](std::exception_ptr failure) {
                           if (failure)
                               std::rethrow_exception(failure);
                       });
    } else {
        (new callback_chain<Contender>{all, calls})->call();
    }
}

template <typename Contender>
figures measure_chains(chain_shape shape, retry_policy const& policy) {
    asio::io_context io(1);
    asio::steady_timer const makes_the_reactor(io);
    chain_context all{io, shape.how, policy};
    auto const run = [&](std::size_t calls) {
        all.ended = {};
        for (std::size_t i = 0; i != shape.chains; ++i)
            start_chain<Contender>(all, calls);
        io.restart();
        io.run();
        all.ended.expect(shape.chains * calls, 0);
    };
    run(shape.calls / 10 + 1); // to warm up

    usage const before = used_so_far();
    run(shape.calls);
    usage const after = used_so_far();
    auto const calls = static_cast<double>(shape.chains * shape.calls);
    return {{"cpu_ns", (after.cpu_ns - before.cpu_ns) / calls},
            {"allocations", static_cast<double>(after.allocations - before.allocations) / calls}};
}

template <typename... Contenders>
void add_chains(workload& to, std::tuple<Contenders...>, chain_shape shape) {
    (to.contenders.push_back(
         {Contenders::name, [shape] { return measure_chains<Contenders>(shape, shape.how.policy()); }}),
     ...);
}

} // namespace asio_retry::bench
