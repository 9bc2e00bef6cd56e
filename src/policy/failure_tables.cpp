#include <asio_retry/failure_class.hpp>

namespace asio_retry {
namespace {

constexpr failure_class no_failure{failure_kind::none, effect::none};
constexpr failure_class undone{failure_kind::transient, effect::none};
constexpr failure_class in_doubt{failure_kind::transient, effect::possible};
constexpr failure_class unanswered{failure_kind::timeout, effect::possible};
constexpr failure_class limited{failure_kind::throttled, effect::none};
constexpr failure_class too_busy{failure_kind::overloaded, effect::none};
constexpr failure_class answered{failure_kind::permanent, effect::possible};

} // namespace

failure_class classify_http(int status) noexcept {
    switch (status) {
    case 421:
    case 425:
        return undone;
    case 408:
    case 504:
        return unanswered;
    case 429:
        return limited;
    case 503:
        return {failure_kind::overloaded, effect::possible};
    case 501:
    case 505:
        return answered;
    }
    if (100 <= status && status < 400)
        return no_failure;
    return 500 <= status && status < 600 ? in_doubt : answered;
}

failure_class classify_grpc(int code) noexcept {
    switch (code) {
    case 0: // OK
        return no_failure;
    case 2:  // UNKNOWN
    case 13: // INTERNAL
    case 14: // UNAVAILABLE
        return in_doubt;
    case 4: // DEADLINE_EXCEEDED
        return unanswered;
    case 8: // RESOURCE_EXHAUSTED
        return limited;
    case 10: // ABORTED
        return undone;
    }
    return answered;
}

failure_class classify_sqlstate(std::string_view state) noexcept {
    if (state.size() != 5)
        return answered;
    std::string_view const group = state.substr(0, 2);
    if (group == "00" || group == "01" || group == "02")
        return no_failure;
    if (state == "40003" || state == "57P01" || state == "57P02" || state == "57P05" || state == "58030")
        return in_doubt;
    if (state == "55P03" || state == "57P03" || state == "25006" || state == "08001" || state == "08004")
        return undone;
    if (state == "57014")
        return unanswered;
    if (group == "08")
        return in_doubt;
    if (group == "40")
        return undone;
    return group == "53" ? too_busy : answered;
}

failure_class classify_redis(std::string_view error_reply) noexcept {
    if (error_reply.starts_with('-'))
        error_reply.remove_prefix(1);
    std::string_view const word = error_reply.substr(0, error_reply.find_first_of(" \t\r\n"));
    if (word == "LOADING" || word == "BUSY" || word == "OOM")
        return too_busy;
    if (word == "TRYAGAIN" || word == "READONLY" || word == "MASTERDOWN" || word == "CLUSTERDOWN" ||
        word == "NOREPLICAS")
        return undone;
    return answered;
}

judgement judge_http(int status, std::string_view retry_after,
                     std::chrono::system_clock::time_point now) noexcept {
    judgement result;
    result.what = classify_http(status);
    result.status = status;
    result.failed = result.what.kind != failure_kind::none;
    if (result.failed)
        result.said = parse_retry_after(retry_after, now);
    return result;
}

} // namespace asio_retry
