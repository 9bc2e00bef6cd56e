#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry_policy.hpp>

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace asio_retry {

// Policies as JSON, in the target asio_retry::json, which needs Boost.JSON. -D ASIO_RETRY_JSON=OFF neither
// builds nor installs it.
//
// An object has the items of doc/reference/policy_text.md: the name is a key, the value gives the arguments.
// The arguments are an object with their names, an array in their order, or a single one that is not an object.
// `true` or {} stands for no arguments. A duration is a string, a backoff inside another is an object with one
// key, a schedule is an array or {"delays": [...]}:
//
//     {"exponential": {"base": "500ms", "factor": 1.5, "cap": "1min"}, "proportional_jitter": 0.5,
//      "max_attempts": 10, "clamp": true, ...}
//
// A kind of failure is a string. Several rules of one name are an array:
//
//     {"retry_if": ["timeout", "overloaded"],
//      "when": [{"kind": "throttled", "backoff": {"exponential": "1s"}}], ...}
//
// A json::value has each key once. If a text has a key twice, Boost.JSON keeps the last value without an error.
// `policies_from_json` refuses such a text.

/// Makes a policy of a JSON object.
///
/// A setting that the object does not mention is as in `retry_policy()`, or as in the profile that it names.
/// Throws policy_syntax_error in the same cases as `parse_policy`; the message has the path to the fault.
ASIO_RETRY_JSON_DECL retry_policy policy_from_json(boost::json::value const& from);

/// Writes a policy as JSON, with the items of `to_string`.
///
/// `policy_from_json` reads it, unless the policy has callables.
ASIO_RETRY_JSON_DECL boost::json::value policy_to_json(retry_policy const& policy);

/// Reads an object of policies: the keys are the names, the values are objects as above or texts for
/// `parse_policy`. The policies keep their order.
///
/// Throws policy_syntax_error for a text that is no JSON, with line and column. The message has the path to the
/// fault if the text is no object or empty, a key stands twice in one object, a name is empty or has control
/// characters, or a value is no policy.
ASIO_RETRY_JSON_DECL std::vector<named_policy> policies_from_json(std::string_view text);

/// A `retryPolicy` of a service config of gRPC.
struct grpc_retry_policy {
    retry_policy policy;                             ///< the policy that the service config describes
    std::vector<std::string> retryable_status_codes; ///< such as "UNAVAILABLE", each once
};

/// Reads a `retryPolicy` of a service config of gRPC.
///
/// maxAttempts, initialBackoff, maxBackoff, backoffMultiplier and retryableStatusCodes must be there; other
/// members are ignored. More than 5 attempts are 5. A status code stands there "in the integer form or the
/// case-insensitive string form (eg. [14], ["UNAVAILABLE"] or ["unavailable"])". A number may stand in
/// quotation marks, "1.6", as in all JSON of protocol buffers and in gRPC's own parser.
///
/// Throws policy_syntax_error, whose message has the path to the fault, in these cases:
/// - fewer than 2 attempts are asked for;
/// - a backoff is not a positive number of seconds such as "0.5s";
/// - the multiplier is not positive, or below 1, which is legal there: no backoff of this library shrinks;
/// - there is no status code, or one is unknown or OK.
///
/// Source: gRFC A6, "gRPC Retry Design", in the version of 2024-08-23 (grpc/proposal pull request 452). The
/// delay before retry n is drawn from min(initialBackoff * backoffMultiplier^(n - 1), maxBackoff) * [0.8, 1.2],
/// so it may be above maxBackoff. The versions before drew it from [0, min(...)].
ASIO_RETRY_JSON_DECL grpc_retry_policy grpc_retry_policy_from_json(boost::json::value const& from);

} // namespace asio_retry
