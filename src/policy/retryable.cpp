#include <asio_retry/detail/policy/retryable.hpp>

#include <asio_retry/error.hpp>

#include <boost/system/errc.hpp>

#include <variant>

namespace asio_retry::detail {

bool is_retryable(retry_settings const& settings, verdict const& failure) {
    auto const& predicate = settings.retry_if;
    if (failure.is_rejected())
        return failure.rejected_as() != failure_kind::permanent;
    if (auto const* by_code = std::get_if<retry_settings::code_predicate>(&predicate))
        return (*by_code)(failure.error());
    if (auto const* by_exception = std::get_if<retry_settings::exception_predicate>(&predicate))
        return (*by_exception)(failure.exception() ? failure.exception() : exception_of(failure.error()));
    return std::holds_alternative<any_failure_t>(predicate) ||
           failure.error() != boost::system::errc::operation_canceled;
}

} // namespace asio_retry::detail
