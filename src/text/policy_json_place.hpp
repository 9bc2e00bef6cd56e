#pragma once

#include "text/term.hpp"

#include <asio_retry/retry_policy.hpp>

#include <boost/json/object.hpp>
#include <boost/json/string_view.hpp>
#include <boost/json/value.hpp>

#include <string_view>

namespace asio_retry::detail {

// Shared by policy_json.cpp, which reads one policy, and policy_json_file.cpp, which reads several.

inline std::string_view view_of(boost::json::string_view text) {
    return {text.data(), text.size()};
}

/// The place of a value in an object (RFC 6901).
text_position within(text_position const& at, std::string_view key);

[[noreturn]] void fail_expecting_json(text_position const& at, std::string_view expected,
                                      boost::json::value const& found, std::string_view question = {});

/// Makes a policy from a JSON object.
retry_policy policy_from_object(boost::json::object const& from, text_position const& at);

} // namespace asio_retry::detail
