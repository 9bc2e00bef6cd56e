#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/detail/operation/retry_elsewhere.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

// An operation without types (`kept_operation`) is retried as one that returns a `kept_value`. `operation_form`
// makes it such an operation, `retry_in` starts the retry, and `put` stores what comes of it for the caller.
namespace asio_retry::detail {

namespace {

asio::awaitable<kept_value> value_of(asio::awaitable<void> attempt, owned<kept_value> place) {
    co_await std::move(attempt);
    co_return std::move(*place);
}

} // namespace

template <>
struct operation_form<kept_operation> {
    static constexpr bool prepares = true;
    static constexpr bool chooses = true; // the operation inside may choose

    static asio::awaitable<kept_value> call(kept_operation& operation, attempt const& which) {
        owned<kept_value> place(new kept_value); // of this attempt, which may outlast the operation
        auto begun = operation->call(which, *place);
        return value_of(std::move(begun), std::move(place));
    }
    static void prepare(kept_operation& operation, retry_machine& machine) { operation->prepare(machine); }
    static machine_observer* chooser_of(kept_operation& operation) noexcept { return operation->chooser(); }
    static judgement rejects(kept_operation& operation, kept_value const& kept) {
        return operation->rejects(kept.get());
    }
};

namespace {

using erased = erased_operation<asio::awaitable<kept_value>, true, true>;

asio::awaitable<void> put(untyped_result& into,
                          asio::awaitable<std::tuple<std::exception_ptr, kept_value>> retry) {
    std::tie(into.thrown, into.value) = co_await std::move(retry);
}

/// A plain function: the frame of a coroutine would keep `source`.
template <typename Source>
asio::awaitable<void> retry_in(Source const& source, untyped_result& result, kept_operation&& operation,
                               retry_policy&& policy) {
    using awaiting = asio::as_tuple_t<asio::use_awaitable_t<>>;
    awaiting token{asio::use_awaitable};
    return put(result, asio::async_initiate<awaiting, erased::signature>(
                           source.template initiation<erased::signature>(), token, erased(std::move(operation)),
                           std::move(policy)));
}

} // namespace

asio::awaitable<void> retry_untyped(untyped_result& result, kept_operation&& operation, retry_policy&& policy,
                                    own_executor) {
    return retry_in(handler_executor_source(), result, std::move(operation), std::move(policy));
}

asio::awaitable<void> retry_untyped(untyped_result& result, kept_operation&& operation, retry_policy&& policy,
                                    asio::any_io_executor&& waits_on) {
    return retry_in(wait_on(asio::any_io_executor(std::move(waits_on))), result, std::move(operation),
                    std::move(policy));
}

asio::awaitable<void> retry_untyped(untyped_result& result, kept_operation&& operation, retry_policy&& policy,
                                    scope_handle&& scope) {
    return retry_in(scope_source{std::move(scope)}, result, std::move(operation), std::move(policy));
}

} // namespace asio_retry::detail
