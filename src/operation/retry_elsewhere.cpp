#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/detail/operation/retry_elsewhere.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace asio_retry::detail {

namespace {

using signature = operation_form<untyped_operation>::signature;
using awaiting = asio::as_tuple_t<asio::use_awaitable_t<>>;

template <typename Source>
asio::awaitable<untyped_result> retry_in(Source const& source, untyped_operation&& operation,
                                         retry_policy&& policy) {
    awaiting token{asio::use_awaitable};
    return asio::async_initiate<awaiting, signature>(source.template initiation<signature>(), token,
                                                     std::move(operation), std::move(policy));
}

} // namespace

asio::awaitable<untyped_result> retry_untyped(untyped_operation&& operation, retry_policy&& policy,
                                              own_executor) {
    return retry_in(handler_executor_source(), std::move(operation), std::move(policy));
}

asio::awaitable<untyped_result> retry_untyped(untyped_operation&& operation, retry_policy&& policy,
                                              asio::any_io_executor&& waits_on) {
    return retry_in(wait_on(asio::any_io_executor(std::move(waits_on))), std::move(operation),
                    std::move(policy));
}

asio::awaitable<untyped_result> retry_untyped(untyped_operation&& operation, retry_policy&& policy,
                                              scope_handle&& scope) {
    return retry_in(scope_source{std::move(scope)}, std::move(operation), std::move(policy));
}

} // namespace asio_retry::detail
