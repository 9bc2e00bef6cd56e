// Whatever is thrown on one side of a shared library is caught on the other as what it is.
#include "forms.hpp"
#include "plugin.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

int failures = 0;

void expect(bool holds, char const* what) {
    std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
    failures += holds ? 0 : 1;
}

template <typename Exception>
void expect_throw(auto const& f, char const* what) {
    bool caught = false;
    try {
        f();
    } catch (Exception const&) {
        caught = true;
    } catch (...) {
    }
    expect(caught, what);
}

auto const policy = asio_retry::retry_policy().backoff(asio_retry::constant(1ns)).max_attempts(3);

/// The attempts that `retry` makes of what throws.
template <typename Exception>
int attempts_of(auto const& f) {
    int attempts = 0;
    auto const operation = [&] {
        ++attempts;
        f();
    };
    expect_throw<Exception>([&] { asio_retry::retry(operation, policy); }, "what ends a retry is caught");
    return attempts;
}

void thrown_by_the_plugin() {
    expect_throw<asio_retry::permanent_error>(plugin::throw_permanent, "permanent_error");
    expect_throw<std::exception>(plugin::throw_permanent, "permanent_error as its base");
    expect_throw<plugin::no_such_user>(plugin::throw_no_such_user, "what derives from permanent_error");
    expect_throw<asio_retry::permanent_error>(plugin::throw_no_such_user, "the base of what derives from it");
    expect_throw<asio_retry::policy_syntax_error>(plugin::throw_policy_syntax_error, "policy_syntax_error");
    expect_throw<boost::system::system_error>(plugin::throw_system_error, "system_error");
    expect(plugin::exhausted() == asio_retry::error::exhausted, "the categories are the same");
}

void thrown_by_the_library() {
    expect_throw<asio_retry::policy_syntax_error>([] { (void)asio_retry::parse_policy("nonsense"); },
                                                  "policy_syntax_error");
    expect_throw<std::invalid_argument>(plugin::parse_nonsense, "its base, through both");
    expect_throw<std::invalid_argument>([] { (void)asio_retry::retry_policy().max_attempts(0); },
                                        "invalid_argument");
    asio::io_context io;
    asio_retry::virtual_time time(io);
    expect_throw<std::logic_error>([&] { asio_retry::virtual_time second(io); }, "logic_error");
}

void through_the_library() {
    expect(attempts_of<std::out_of_range>(plugin::throw_permanent) == 1, "permanent ends a retry");
    expect(attempts_of<std::out_of_range>(plugin::throw_permanent_nested) == 1, "nested too");
    expect(attempts_of<std::out_of_range>(plugin::throw_no_such_user) == 1, "what derives from it too");
    expect(attempts_of<asio_retry::policy_syntax_error>(plugin::throw_policy_syntax_error) == 3,
           "others do not");

    asio::io_context io;
    int attempts = 0;
    auto const refused = [&]() -> asio_retry::error_code {
        ++attempts;
        return plugin::permanent_code();
    };
    asio_retry::error_code result;
    asio_retry::async_retry(io, refused, policy, [&](asio_retry::error_code ec) { result = ec; });
    io.run();
    expect(attempts == 1 && result == asio::error::timed_out, "a permanent code ends a retry");

    attempts = 0;
    auto const fail = [&]() -> asio::awaitable<void> {
        ++attempts;
        plugin::throw_system_error();
        co_return;
    };
    auto const gated = policy.gate(std::make_shared<plugin::closed_gate>());
    std::exception_ptr thrown;
    asio::co_spawn(
        io, [&] { return asio_retry::async_retry(fail, gated); }, [&](std::exception_ptr e) { thrown = e; });
    io.restart();
    io.run();
    expect(attempts == 1, "a gate of the plugin's refuses");
    expect_throw<boost::system::system_error>([&] { std::rethrow_exception(thrown); },
                                              "a coroutine's system_error");
}

/// The library names them without Asio's headers, and every system has numbers of its own.
void codes_of_the_system() {
    using asio_retry::classify;
    using asio_retry::failure_kind;
    expect(asio_retry::detail::timed_out_error() == asio::error::timed_out, "timed_out");
    expect(asio_retry::detail::no_memory_error() == asio::error::no_memory, "no_memory");
    expect(asio_retry::detail::no_buffer_space_error() == asio::error::no_buffer_space, "no_buffer_space");
    expect(asio_retry::detail::aborted_error() == asio::error::operation_aborted, "operation_aborted");
    expect(classify(asio::error::timed_out).kind == failure_kind::timeout, "a timeout");
    expect(asio_retry::surely_not_done(asio::error::connection_refused), "refused");
    expect(asio_retry::surely_not_done(asio::error::host_not_found_try_again), "a name to look up again");
    expect(asio_retry::surely_not_done(asio::error::host_not_found), "no such name");
    expect(!asio_retry::worth_retrying(asio::error::service_not_found), "no such service");
    expect(!asio_retry::worth_retrying(asio::error::operation_aborted), "aborted");
}

} // namespace

int main() {
    codes_of_the_system();
    thrown_by_the_plugin();
    thrown_by_the_library();
    through_the_library();
    expect(forms::end_in_a_scope(), "every form in a scope");
    expect(forms::end_when_they_are_cancelled(), "every form that is cancelled");
    expect(forms::end_on_a_pool(), "on the threads of a pool");
    return failures == 0 ? 0 : 1;
}
