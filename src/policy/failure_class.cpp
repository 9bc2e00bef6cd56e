#include <asio_retry/failure_class.hpp>

#include "policy/enumerator_name.hpp"
#include "policy/known_class.hpp"
#include "policy/longer_wish.hpp"
#include "policy/protocol_codes.hpp"
#include "policy/system_codes.hpp"

#include <asio_retry/permanent.hpp>

#include <optional>
#include <ostream>
#include <string_view>

namespace asio_retry {
namespace {

constexpr failure_class no_failure{failure_kind::none, effect::none};
constexpr failure_class not_done{failure_kind::transient, effect::none};
constexpr failure_class perhaps_done{failure_kind::transient, effect::possible};
constexpr failure_class no_answer{failure_kind::timeout, effect::possible};
constexpr failure_class limited{failure_kind::throttled, effect::none};
constexpr failure_class too_busy{failure_kind::overloaded, effect::none};
constexpr failure_class hopeless{failure_kind::permanent, effect::possible};

failure_class classify_errno(int value) noexcept {
    switch (value) {
    case ECONNREFUSED:
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
/// Classifies by the system's numbers, because a category knows the conditions of only some of them.
std::optional<failure_class> classify_system(int value) noexcept {
    if (int const stands_for = detail::system_codes::errno_of_windows(value))
        return classify_errno(stands_for);
    if (detail::system_codes::is_no_address(value))
        return not_done;
    return detail::system_codes::is_hopeless_lookup(value) ? std::optional(hopeless) : std::nullopt;
}
#else
/// Asio's category for the errors of gethostbyname. A resolver that fails for a moment says that a host does
/// not exist, or that it has no address.
failure_class classify_netdb(int value) noexcept {
    switch (value) {
    case TRY_AGAIN:
    case HOST_NOT_FOUND:
    case NO_DATA:
        return not_done;
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
    static constexpr std::string_view names[] = {"none",    "permanent", "transient",
                                                 "timeout", "throttled", "overloaded"};
    return detail::enumerator_name<failure_kind::overloaded>(names, kind, "unknown failure_kind");
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

// --- the tables of protocols

failure_class classify_http(int status) noexcept {
    switch (status) {
    case 421:
    case 425:
        return not_done;
    case 408:
    case 504:
        return no_answer;
    case 429:
        return limited;
    case 503:
        return {failure_kind::overloaded, effect::possible};
    case 501:
    case 505:
        return hopeless;
    }
    if (100 <= status && status < 400)
        return no_failure;
    return 500 <= status && status < 600 ? perhaps_done : hopeless;
}

failure_class classify_grpc(int code) noexcept {
    switch (code) {
    case 0: // OK
        return no_failure;
    case 2:  // UNKNOWN
    case 13: // INTERNAL
    case 14: // UNAVAILABLE
        return perhaps_done;
    case 4: // DEADLINE_EXCEEDED
        return no_answer;
    case 8: // RESOURCE_EXHAUSTED: of the client too, about a response that is too large
        return {failure_kind::throttled, effect::possible};
    case 10: // ABORTED
        return not_done;
    }
    return hopeless;
}

failure_class classify_sqlstate(std::string_view state) noexcept {
    if (state.size() != 5)
        return hopeless;
    std::string_view const group = state.substr(0, 2);
    if (group == "00" || group == "01" || group == "02")
        return no_failure;
    if (state == "40003" || state == "57P01" || state == "57P02" || state == "57P05" || state == "58030")
        return perhaps_done;
    if (state == "55P03" || state == "57P03" || state == "25006" || state == "08001" || state == "08004")
        return not_done;
    if (state == "57014")
        return no_answer;
    if (group == "08")
        return perhaps_done;
    if (group == "40")
        return not_done;
    return group == "53" ? too_busy : hopeless;
}

failure_class classify_redis(std::string_view error_reply) noexcept {
    constexpr std::string_view refused_exec = "EXECABORT Transaction discarded because of: ";
    if (error_reply.starts_with('-'))
        error_reply.remove_prefix(1);
    bool const is_refused_exec = error_reply.starts_with(refused_exec);
    if (is_refused_exec) // at most once in a reply
        error_reply.remove_prefix(refused_exec.size());
    bool const is_of_script = !is_refused_exec && error_reply.find(" script: ") != std::string_view::npos;
    effect const done = is_of_script ? effect::possible : effect::none;
    std::string_view const word = error_reply.substr(0, error_reply.find_first_of(" \t\r\n"));
    if (word == "LOADING" || word == "BUSY" || word == "OOM" ||
        error_reply.starts_with("ERR max number of clients"))
        return {failure_kind::overloaded, done};
    if (word == "TRYAGAIN" || word == "READONLY" || word == "MASTERDOWN" || word == "CLUSTERDOWN" ||
        word == "NOREPLICAS" || word == "MISCONF")
        return {failure_kind::transient, done};
    return hopeless;
}

failure_class classify_mqtt(int reason_code) noexcept {
    switch (reason_code) {
    case 0x89: // Server busy
        return too_busy;
    case 0x97: // Quota exceeded
    case 0x9f: // Connection rate exceeded
        return limited;
    case 0x96: // Message rate too high
        return {failure_kind::throttled, effect::possible};
    case 0x88: // Server unavailable
    case 0x91: // Packet Identifier in use
    case 0x9c: // Use another server
        return not_done;
    case 0x80: // Unspecified error
    case 0x8b: // Server shutting down
    case 0x8d: // Keep Alive timeout
    case 0xa0: // Maximum connect time
        return perhaps_done;
    }
    return 0 <= reason_code && reason_code < 0x80 ? no_failure : hopeless;
}

judgement detail::judge_http_fields(int status, http_fields const& fields,
                                    std::chrono::system_clock::time_point now) noexcept {
    judgement result;
    result.what = classify_http(status);
    result.status = status;
    result.failed = result.what.kind != failure_kind::none;
    if (!result.failed)
        return result;
    result.said = detail::longer_wish(parse_retry_after(fields.retry_after, now),
                                      parse_retry_after_ms(fields.retry_after_ms));
    if (status == 429 || status == 503) { // other answers have these fields too, and ask for no delay
        result.said = detail::longer_wish(result.said, parse_rate_limit(fields.rate_limit));
        result.said = detail::longer_wish(result.said, parse_rate_limit_reset(fields.rate_limit_reset, now));
    }
    if (result.said && (status == 403 || status == 413))
        result.what = limited;
    return result;
}

judgement judge_http(int status, std::string_view retry_after,
                     std::chrono::system_clock::time_point now) noexcept {
    return judge_http(status, http_fields{.retry_after = retry_after}, now);
}

} // namespace asio_retry
