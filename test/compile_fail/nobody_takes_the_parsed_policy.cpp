// expected: keep the policy that this returns: no policy is changed in place
#pragma GCC diagnostic error "-Wunused-result"
#include <asio_retry/policy_text.hpp>

asio_retry::retry_policy parsed(std::string_view text) {
#ifdef FAULT_REMOVED
    return asio_retry::parse_policy(text);
#else
    asio_retry::parse_policy(text);
    return {};
#endif
}
