// g++ before 13 warns of each line that ends with "warns", and of no other line: see closures.cmake.
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/inject.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using asio_retry::async_hedge;
using asio_retry::async_retry;
using asio_retry::error_code;

awaitable<int> fetch(std::string const& name);

struct place {
    asio::io_context& io;
    asio_retry::retry_scope& scope;
    asio_retry::attempt const& outer;
};

namespace {

using text = std::shared_ptr<std::string>;

/// Has no constructor, so that the compiler treats it like a lambda.
struct aggregate {
    text name;
    awaitable<int> operator()() const { return fetch(*name); }
};

class fetcher {
public:
    explicit fetcher(text const& name)
        : name_(name)
        , label_(*name) {}
    awaitable<int> operator()() const { return fetch(*name_); }

private:
    text const& name_; // so that it cannot be assigned, like a lambda
    std::string label_;
};

/// Holds a lambda, and is none.
template <typename F>
class logged {
public:
    explicit logged(F const& f)
        : f_(f) {}
    awaitable<int> operator()() const { return f_(); }

private:
    F f_;
};

asio_retry::retry_policy const policy;
asio_retry::hedge_policy const hedged(std::chrono::seconds(1));

awaitable<void> what_is_captured(text s) {
    int n = int(s->size());
    co_await async_retry([s] { return fetch(*s); }, policy);                                           // warns
    co_await async_retry([t = std::move(s)] { return fetch(*t); }, policy);                            // warns
    co_await async_retry([s, n](asio_retry::attempt) mutable { return fetch(*s + char(n)); }, policy); // warns
    co_await async_retry([s] { return s->empty(); }, policy);                                          // warns
    co_await async_retry(aggregate{s}, policy);                                                        // warns
    co_await async_retry([] { return fetch(""); }, policy);
    co_await async_retry([&] { return fetch(*s); }, policy);
    co_await async_retry([&s, n] { return fetch(*s + char(n)); }, policy);
    co_await async_retry([n] { return n; }, policy);
    co_await async_retry(fetcher(s), policy);
    auto const named = [s] { return fetch(*s); };
    co_await async_retry(named, policy);
    co_await async_retry(logged(named), policy);
    co_await async_retry(std::function<awaitable<int>()>(named), policy);
    co_await async_retry(std::ref(named), policy);
    aggregate const has_a_name{s};
    co_await async_retry(has_a_name, policy);
}

awaitable<int> returned(text s) {
    co_return co_await async_retry([s] { return fetch(*s); }, policy); // warns
}

template <typename T>
awaitable<void> in_a_template(T s) {
    co_await async_retry([s] { return fetch(*s); }, policy); // warns
    co_await async_retry([&] { return fetch(*s); }, policy);
}

awaitable<void> where_it_waits(place where, text s) {
    asio::any_io_executor const executor = where.io.get_executor();
    auto& [io, scope, outer] = where;
    co_await async_retry(executor, [s] { return fetch(*s); }, policy);          // warns
    co_await async_retry(io.get_executor(), [s] { return fetch(*s); }, policy); // warns
    co_await async_retry(io, [s] { return fetch(*s); }, policy);                // warns
    co_await async_retry(scope, [s] { return fetch(*s); }, policy);             // warns
    co_await async_retry(outer, [s] { return fetch(*s); }, policy);             // warns
    co_await async_hedge([s] { return fetch(*s); }, hedged);                    // warns
    co_await async_hedge(executor, [s] { return fetch(*s); }, hedged);          // warns
    co_await async_hedge(io, [s] { return fetch(*s); }, hedged);                // warns
    co_await async_hedge(scope, [s] { return fetch(*s); }, hedged);             // warns
    co_await async_hedge(outer, [s] { return fetch(*s); }, hedged);             // warns
    auto const named = [s] { return fetch(*s); };
    co_await async_retry(executor, named, policy);
    co_await async_retry(io, named, policy);
    co_await async_retry(scope, named, policy);
    co_await async_retry(outer, named, policy);
    co_await async_hedge(named, hedged);
    co_await async_hedge(scope, named, hedged);
}

awaitable<void> tokens(asio::steady_timer& timer, text s) {
    error_code ec;
    auto const on = timer.get_executor();
    auto on_this = asio::bind_executor(on, use_awaitable);
    auto without_throw = asio::redirect_error(use_awaitable, ec);
    auto const wait = [s, &timer](auto token) { return timer.async_wait(std::move(token)); };
    co_await async_retry([s, &timer](auto t) { return timer.async_wait(std::move(t)); }, policy); // warns
    co_await async_retry(wait, policy);
    co_await async_retry([s] { return fetch(*s); }, policy, use_awaitable);                     // warns
    co_await async_retry([s] { return fetch(*s); }, policy, asio::as_tuple(use_awaitable));     // warns
    co_await async_retry([s] { return fetch(*s); }, policy, on_this);                           // warns
    co_await async_retry([s] { return error_code(); }, policy, without_throw);                  // warns
    co_await async_retry([s] { return error_code(); }, policy, asio::deferred);                 // warns
    co_await async_retry([s] { return error_code(); }, policy, asio::as_tuple(asio::deferred)); // warns
    async_retry(on, [s] { return fetch(*s); }, policy, asio::detached);
    async_retry(on, [s] { return fetch(*s); }, policy, [](std::exception_ptr, int) {});
    async_retry(on, [s] { return fetch(*s); }, policy, [s](std::exception_ptr, int) {});
    async_hedge(on, [s] { return fetch(*s); }, hedged, [](std::exception_ptr, int) {});
    async_retry(on, aggregate{s}, policy, asio::use_future).wait();
    async_retry(on, asio_retry::fail_if(aggregate{s}, [](int) { return true; }), policy, asio::detached);
}

awaitable<void> wrappers(std::shared_ptr<asio_retry::endpoint_set<std::string>> servers,
                         std::shared_ptr<asio_retry::fault_plan> faults, text s) {
    using namespace asio_retry;
    retry_report report;
    auto const never = [](int) { return false; };
    auto const on_retry = [](retry_event const&) {};
    auto const ask = [](std::string const& server) { return fetch(server); };
    auto const named = [s] { return fetch(*s); };
    auto const judge = [s](int) { return s->empty(); };
    auto const note = [s](retry_event const&) {};
    auto const ask_named = [s](std::string const&) { return fetch(*s); };
    co_await async_retry(fail_if([s] { return fetch(*s); }, never), policy);                           // warns
    co_await async_retry(fail_if([s] { return fetch(*s); }, never).or_error(), policy);                // warns
    co_await async_retry(fail_if(named, [s](int) { return s->empty(); }), policy);                     // warns
    co_await async_retry(with_hooks([s] { return fetch(*s); }, on_retry), policy);                     // warns
    co_await async_retry(with_hooks(named, [s](retry_event const&) {}), policy);                       // warns
    co_await async_retry(with_hooks(named, nullptr, [s](stop_reason) {}), policy);                     // warns
    co_await async_retry(with_report([s] { return fetch(*s); }, report), policy);                      // warns
    co_await async_retry(before_retry([s] { return fetch(*s); }, named), policy);                      // warns
    co_await async_retry(before_retry(named, [s] { s->clear(); }), policy);                            // warns
    co_await async_retry(inject([s] { return fetch(*s); }, faults), policy);                           // warns
    co_await async_retry(on_endpoint([s](std::string const&) { return fetch(*s); }, servers), policy); // warns
    co_await async_retry(with_report(fail_if(aggregate{s}, never), report), policy);                   // warns
    co_await async_hedge(fail_if([s] { return fetch(*s); }, never), hedged);                           // warns
    co_await async_retry(fail_if(named, judge), policy);
    co_await async_retry(fail_if(named, judge).or_error(), policy);
    co_await async_retry(fail_if([&] { return fetch(*s); }, never), policy);
    co_await async_retry(with_hooks(named, note, note), policy);
    co_await async_retry(with_report(fail_if(named, judge), report), policy);
    co_await async_retry(before_retry(named, named), policy);
    co_await async_retry(inject(named, faults), policy);
    co_await async_retry(on_endpoint(ask, servers), policy);
    co_await async_retry(on_endpoint(inject(ask_named, faults), servers), policy);
    auto const operation = fail_if([s] { return fetch(*s); }, never);
    co_await async_retry(operation, policy);
    co_await async_retry(with_report(operation, report), policy);
    co_await async_hedge(operation, hedged);
}

} // namespace

void use_all(asio::steady_timer& timer, place where) {
    text const s;
    (void)what_is_captured(s), (void)returned(s), (void)in_a_template(s), (void)where_it_waits(where, s);
    (void)tokens(timer, s), (void)wrappers(nullptr, nullptr, s);
}
