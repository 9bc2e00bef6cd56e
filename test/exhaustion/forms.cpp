#include "exhaustion/scenarios.hpp"

#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_observer.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <future>

namespace asio_retry::test {
namespace {

/// Refuses the first time that it is asked for an attempt, and what balances in it has to.
struct balancing_gate final : retry_gate, retry_observer {
    ~balancing_gate() override {
        EXPECT_EQ(running, 0);
        EXPECT_EQ(leases, 0);
        EXPECT_EQ(observed, 0);
    }
    bool acquire(failure_kind, time_point) noexcept override { return ++leases != 0; }
    void give_back(failure_kind) noexcept override { --leases; }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        if (++asked == 1)
            return time_point::max();
        leases -= number != 1;
        ++running;
        return now;
    }
    void on_end(attempt_end const& end) noexcept override {
        leases += end.number != 1 && end.after == failure_kind::none; // it did not begin
        --running;
    }
    void on_event(observation const& event) noexcept override {
        observed += event.what == observation::kind::started;
        observed -= event.what == observation::kind::ended;
    }
    int asked = 0, running = 0, leases = 0, observed = 0;
};

} // namespace

std::vector<scenario> forms() {
    // Plays an operation that fails twice.
    auto const plays = [](auto operation) {
        return [=](auto& t) {
            auto& s = failing(t, 2);
            retry_policy const policy = t.with_memory(patient);
            t.start({}, [&](auto handler) { async_retry(t.io, operation(t, s), policy, std::move(handler)); });
        };
    };

    return {
        make_scenario("deferred", plays([](trial& t, script& s) {
                          return [&] { return async_scripted(t.io, s, asio::deferred); };
                      })),
        make_scenario("plain_callable_with_a_code",
                      plays([](trial&, script& s) { return [&s] { return s.next(); }; })),
        make_scenario("plain_callable_that_throws", plays([](trial&, script& s) {
                          return [&s] {
                              if (error_code const ec = s.next())
                                  throw boost::system::system_error(ec);
                              return 1;
                          };
                      })),
        make_scenario("fail_if",
                      [](auto& t) {
                          auto& s = failing(t, 0);
                          retry_policy const policy = t.with_memory(patient);
                          t.start({}, [&](auto handler) {
                              async_retry(t.io,
                                          fail_if(posting(t, s), [](int attempts) { return attempts < 3; }),
                                          policy, std::move(handler));
                          });
                      }),
        make_scenario("on_endpoint",
                      [](auto& t) { // which remembers four without memory
                          auto& s = failing(t, 6);
                          auto const set = t.with_memory([] {
                              return std::make_shared<endpoint_set<int>>(std::vector{1, 2, 3, 4, 5, 6, 7, 8});
                          });
                          retry_policy const policy = t.with_memory(patient);
                          auto const ask = [&](int, auto token) { return posting(t, s)(std::move(token)); };
                          t.start({}, [&](auto handler) {
                              async_retry(t.io, on_endpoint(ask, set), policy, std::move(handler));
                          });
                      }),
        make_scenario("gate_and_observer",
                      [](auto& t) {
                          auto& s = failing(t, 2);
                          retry_policy const policy = t.with_memory([] {
                              auto const gate = std::make_shared<balancing_gate>();
                              return patient().wait_when_refused().gate(gate).observe(gate);
                          });
                          t.start({}, [&](auto handler) {
                              async_retry(t.io, posting(t, s), policy, std::move(handler));
                          });
                      }),
        make_scenario("gate_that_refuses",
                      [](auto& t) {
                          auto& s = failing(t, 5);
                          retry_policy const policy =
                              t.with_memory([] { return patient().gate(std::make_shared<balancing_gate>()); });
                          t.start(error::attempt_refused, [&](auto handler) {
                              async_retry(t.io, posting(t, s), policy, std::move(handler));
                          });
                      }),
        make_scenario("nested_retry", plays([](trial& t, script& s) {
                          return [&](attempt const& outer, auto token) {
                              return async_retry(outer, posting(t, s),
                                                 trial::with_memory(patient).retry_when_nested(),
                                                 std::move(token));
                          };
                      })),
    };
}

/// A future stands for the handler: it is looked at in the end. A promise that is destroyed unkept allocates,
/// and terminates when it cannot.
std::vector<scenario> futures() {
    scenario use_future = make_scenario("use_future", [](auto& t) {
        auto& s = failing(t, 2);
        auto& future = keep<std::future<int>>(t);
        retry_policy const policy = t.with_memory(patient);
        fate& f =
            t.start({}, [&](auto) { future = async_retry(t.io, posting(t, s), policy, asio::use_future); });
        t.with_memory([&] {
            t.at_the_end = [&] {
                if (!future.valid() || future.wait_for(0s) != std::future_status::ready)
                    return;
                try {
                    future.get();
                    f.note(std::exception_ptr());
                } catch (...) {
                    f.note(std::current_exception());
                }
            };
        });
    });
    use_future.once_only = true;
    return {use_future};
}

} // namespace asio_retry::test
