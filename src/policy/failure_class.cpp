#include <asio_retry/failure_class.hpp>

#include "policy/known_class.hpp"
#include "policy/protocol_codes.hpp"
#include "policy/system_codes.hpp"

#include <asio_retry/permanent.hpp>

#include <optional>
#include <ostream>
#include <string_view>

namespace asio_retry {
namespace {

constexpr failure_class not_done{failure_kind::transient, effect::none};
constexpr failure_class perhaps_done{failure_kind::transient, effect::possible};
constexpr failure_class no_answer{failure_kind::timeout, effect::possible};
constexpr failure_class hopeless{failure_kind::permanent, effect::possible};

failure_class classify_errno(int value) noexcept {
    switch (value) {
    case ECONNREFUSED:
    case ENOTCONN:
    case EADDRINUSE:
    case EADDRNOTAVAIL:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
        return not_done;
    case ETIMEDOUT:
        return no_answer;
    case ECANCELED:
    case EINVAL:
    case EMSGSIZE:
    case EBADF:
    case ENOTSOCK:
    case EFAULT:
    case EOPNOTSUPP:
    case EACCES:
    case EPERM:
    case EAFNOSUPPORT:
    case ENOPROTOOPT:
    case EISCONN:
    case EALREADY:
        return hopeless;
    }
    return perhaps_done;
}

#ifdef _WIN32
/// By the system's numbers: a category knows the conditions of only some of them.
std::optional<failure_class> classify_system(int value) noexcept {
    if (int const stands_for = detail::system_codes::errno_of_windows(value))
        return classify_errno(stands_for);
    if (detail::system_codes::is_try_again(value))
        return not_done;
    return detail::system_codes::is_of_no_name(value) ? std::optional(hopeless) : std::nullopt;
}
#else
/// Asio's category for the errors of gethostbyname.
failure_class classify_netdb(int value) noexcept {
    switch (value) {
    case TRY_AGAIN:
        return not_done;
    case HOST_NOT_FOUND:
    case NO_DATA:
    case NO_RECOVERY:
        return hopeless;
    }
    return perhaps_done;
}

/// Asio's category for the errors of getaddrinfo alone.
failure_class classify_addrinfo(int value) noexcept {
    switch (value) {
    case EAI_AGAIN:
        return not_done;
    case EAI_SERVICE:
    case EAI_SOCKTYPE:
        return hopeless;
    }
    return perhaps_done;
}
#endif

} // namespace

std::string_view to_string(failure_kind kind) noexcept {
    switch (kind) {
    case failure_kind::none:
        return "none";
    case failure_kind::permanent:
        return "permanent";
    case failure_kind::transient:
        return "transient";
    case failure_kind::timeout:
        return "timeout";
    case failure_kind::throttled:
        return "throttled";
    case failure_kind::overloaded:
        return "overloaded";
    }
    return "unknown failure_kind";
}

std::ostream& operator<<(std::ostream& out, failure_kind kind) {
    return out << to_string(kind);
}

std::optional<failure_class> detail::known_class(error_code const& ec) noexcept {
    if (!ec)
        return failure_class{failure_kind::none, effect::none};
    if (detail::find_permanent(ec))
        return hopeless;
    error_code const code = detail::unwrapped(ec);
    if (code.category() == error_category()) {
        if (code == condition::refused)
            return not_done;
        if (code == error::operation_threw)
            return std::nullopt;
        return code == condition::callback_threw || code == error::exhausted ? hopeless : perhaps_done;
    }
    if (auto const known = detail::classify_protocol(code))
        return *known;
    std::string_view const category = code.category().name();
#ifdef _WIN32
    if (category == "system" || category == "asio.system") // the latter is standalone Asio's
        if (auto const known = classify_system(code.value()))
            return known;
#else
    if (category == "asio.system")
        return classify_errno(code.value());
    if (category == "asio.netdb")
        return classify_netdb(code.value());
    if (category == "asio.addrinfo")
        return classify_addrinfo(code.value());
#endif
    auto const condition = code.default_error_condition();
    if (condition.category() == boost::system::generic_category())
        return classify_errno(condition.value());
    bool const is_known = category == "system" || category.starts_with("asio.");
    return is_known ? std::optional(perhaps_done) : std::nullopt;
}

failure_class classify(error_code const& ec) noexcept {
    return detail::known_class(ec).value_or(perhaps_done);
}

bool worth_retrying(error_code const& ec) noexcept {
    return classify(ec).kind != failure_kind::permanent;
}

bool surely_not_done(error_code const& ec) noexcept {
    failure_class const what = classify(ec);
    return what.kind != failure_kind::permanent && what.effect == effect::none;
}

} // namespace asio_retry
