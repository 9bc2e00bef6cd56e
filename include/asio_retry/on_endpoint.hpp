#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/bound_operation.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/attempt/operation_hooks.hpp>
#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/traffic/endpoint_choice.hpp>
#include <asio_retry/detail/traffic/endpoint_table.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The gate of one operation: it chooses an endpoint for each attempt, and hears how the attempt ended.
class endpoint_chooser final : public hooks_observer {
public:
    explicit endpoint_chooser(std::shared_ptr<endpoint_table> const& endpoints) noexcept
        : choice_(endpoints) {}

    endpoint_record const& at(std::uint64_t number) const noexcept { return *choice_.at(number); }

private:
    void draw_from(random& source) noexcept override { choice_.draw_from(source); }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        return choice_.choose(number, now);
    }
    pushback wish(pushback said, time_point now) noexcept override { return choice_.wish(said, now); }
    time_point put_off_since(time_point now) const noexcept override { return choice_.put_off_since(now); }
    void on_attempt_end(attempt_end const& end) noexcept override { choice_.on_end(end); }
    std::string_view gate_name() const noexcept override { return "endpoint_set"; }
    std::shared_ptr<void const> owner_of(std::uint64_t number) const noexcept override {
        return choice_.at(number);
    }

    endpoint_choice choice_;
};

/// An operation whose attempts each get an endpoint. Made by `on_endpoint`.
template <typename Endpoint, typename Operation>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] endpoint_operation {
public:
    /// For `on_endpoint`.
    endpoint_operation(endpoint_set<Endpoint> const& endpoints, Operation given_operation)
        : chooser_(endpoint_access::table(endpoints))
        , operation_(std::move(given_operation)) {}

private:
    friend struct operation_form<endpoint_operation>;

    endpoint_chooser chooser_;
    Operation operation_;
};

} // namespace asio_retry::detail

namespace asio_retry {

/// Chooses an endpoint of the set for each attempt of the operation.
///
///     async_retry(on_endpoint(operation, servers), policy)
///
/// The operation takes the endpoint, and may take an attempt before it and a completion token behind it:
/// `(Endpoint const&)`, `(attempt, Endpoint const&)`, `(Endpoint const&, token)`, `(attempt, Endpoint const&,
/// token)`. Otherwise it is of any form that `async_retry` takes.
///
/// `fail_if`, `with_hooks`, `with_report` and `before_retry` go around `on_endpoint`. `retrying` repeats an
/// initiating function, which has no place for an endpoint: use it inside the operation.
///
/// - Of two endpoints drawn at random, the attempt gets the one with fewer attempts in flight. An operation
///   prefers endpoints that it has not asked; after all of them, the one that it asked longest ago. An endpoint
///   that fails more often than the others gets less than its share.
/// - An ejected endpoint gets no attempt. The rules are those of `endpoint_set`.
/// - The endpoint's breaker hears how the attempt ended, as a gate of the policy would: by the same `classify`.
///   The attempt of a hedge that was beaten is abandoned.
/// - If no endpoint may be asked, the attempt is refused as by a gate, after the policy's own: with
///   `error::circuit_open`, or with the failure before it. No budget is spent. `wait_when_refused` waits until
///   the first endpoint may be asked, or while its probes run by the backoff.
/// - If an attempt fails with a server's wish, that endpoint rests, and the operation goes on at another one,
///   after its own backoff. If all rest, the attempt waits until the first one may be asked: see
///   `endpoint_set`.
///
/// The numbers are drawn from the operation's own source: a seed repeats the choices.
///
/// Preconditions: as for `async_retry`.
///
/// Lifetimes: what is known of the endpoints lives until the operation ends, also without the set. An endpoint
/// lives until the last attempt that was given it has ended, also an attempt that `deliver_at_once` has left
/// behind. The operation is moved or copied, and called as an lvalue. A copy of the result is a new operation
/// that has asked nobody.
///
/// Completion signature, executor and per-operation cancellation: those of the operation.
///
/// Errors: throws std::invalid_argument if the set or the operation is null or empty.
///
/// Thread safety: operations on any thread share a set.
template <typename Operation, typename Endpoint>
detail::wrapper<detail::endpoint_operation, Endpoint&, Operation>
on_endpoint(Operation&& operation, std::shared_ptr<endpoint_set<Endpoint>> const& endpoints) {
    using bound = detail::operation_form<detail::bound_operation<detail::kept<Operation>, Endpoint>>;
    constexpr bool takes_endpoint = bound::shape != detail::call_shape::none;
    static_assert(
        takes_endpoint,
        "on_endpoint: the operation must take an Endpoint const&, and may take an attempt before it and "
        "a completion token behind it; fail_if, with_hooks and with_report go around on_endpoint");
    if (!endpoints)
        detail::refuse("on_endpoint.endpoints", "null", "must be an endpoint_set");
    detail::refuse_if_empty("on_endpoint.operation", operation);
    return {*endpoints, std::forward<Operation>(operation)};
}

/// The order of 0.3, which 0.5 will no longer have: give the operation first.
template <typename Endpoint, typename Operation>
[[deprecated("use on_endpoint(operation, endpoints)")]] auto
on_endpoint(std::shared_ptr<endpoint_set<Endpoint>> const& endpoints, Operation&& operation) {
    return on_endpoint(std::forward<Operation>(operation), endpoints);
}

/// Explains in a compiler error that an argument is an overloaded function.
ASIO_RETRY_REFUSES_OVERLOADED(
    "on_endpoint: it takes an operation and a shared_ptr<endpoint_set>, and no overloaded function")
void on_endpoint(...) ASIO_RETRY_REFUSED;

template <typename Endpoint, typename Operation>
struct detail::operation_form<detail::endpoint_operation<Endpoint, Operation>>
    : detail::operation_form<detail::bound_operation<Operation, Endpoint>> {
    using bound = bound_operation<Operation, Endpoint>;
    using inner = detail::operation_form<bound>;
    using chosen = endpoint_operation<Endpoint, Operation>;

    static constexpr bool chooses = true;
    static constexpr bool prepares = true;

    template <typename... Token>
    static decltype(auto) call(chosen& operation, attempt const& which, Token&&... token) {
        bound target(operation.operation_,
                     endpoint_access::value<Endpoint>(operation.chooser_.at(which.number)));
        return inner::call(target, which, std::forward<Token>(token)...);
    }

    static machine_observer* chooser_of(chosen& operation) noexcept { return &operation.chooser_; }

    static void prepare(chosen& operation, retry_machine& machine) {
        if constexpr (inner::takes_attempt)
            machine.expect_marks();
        machine.choose_with(operation.chooser_);
    }
};

} // namespace asio_retry
