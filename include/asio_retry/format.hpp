#pragma once

#include <asio_retry/failure_class.hpp>
#include <asio_retry/gate_waiter.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/stop_reason.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>

#include <string_view>
#include <version>

// For std::format, if the standard library has it: the text of `to_string` for events, policies, reasons,
// kinds, states of breakers and priorities, with the format of a text, such as `{:>20}`.

#if defined(__cpp_lib_format)
#include <format>

namespace asio_retry::detail {

/// Formats as `to_string` writes.
template <typename Shown>
struct text_formatter : std::formatter<std::string_view> {
    template <typename Context>
    auto format(Shown const& shown, Context& context) const {
        auto const text = to_string(shown);
        return std::formatter<std::string_view>::format(std::string_view(text), context);
    }
};

} // namespace asio_retry::detail

template <>
struct std::formatter<asio_retry::retry_event> : asio_retry::detail::text_formatter<asio_retry::retry_event> {};
template <>
struct std::formatter<asio_retry::retry_policy> : asio_retry::detail::text_formatter<asio_retry::retry_policy> {
};
template <>
struct std::formatter<asio_retry::stop_reason> : asio_retry::detail::text_formatter<asio_retry::stop_reason> {};
template <>
struct std::formatter<asio_retry::failure_kind> : asio_retry::detail::text_formatter<asio_retry::failure_kind> {
};
template <>
struct std::formatter<asio_retry::breaker_state>
    : asio_retry::detail::text_formatter<asio_retry::breaker_state> {};
template <>
struct std::formatter<asio_retry::request_priority>
    : asio_retry::detail::text_formatter<asio_retry::request_priority> {};
#endif
