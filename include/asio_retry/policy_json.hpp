#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/retry_policy.hpp>

#include <boost/json/fwd.hpp>

#include <string>
#include <vector>

namespace asio_retry {

// Policies as JSON, by the target asio_retry::json, which needs Boost.JSON; -D ASIO_RETRY_JSON=OFF builds and
// installs neither.
//
// An object with the items of policy_text.hpp: the name is a key, the value gives the arguments. These are an
// object with their names, an array in their order, or one that is no object alone; `true` or {} if there are
// none. A duration is a string, a backoff inside another an object with one key, a schedule an array or
// {"delays": [...]}:
//
//   {"exponential": {"base": "500ms", "factor": 1.5, "cap": "1min"}, "proportional_jitter": 0.5,
//    "max_attempts": 10, "clamp": true, ...}
//
// A kind of failure is a string. Several rules of a name are an array:
//
//   {"retry_if": ["timeout", "overloaded"],
//    "when": [{"kind": "throttled", "backoff": {"exponential": "1s"}}], ...}
//
// A json::value has each key once: of keys that stand twice in a text Boost.JSON keeps the last value, and says
// nothing. Who wants to refuse them looks for them while the text is parsed, as asio-retry does.

/// What the object does not mention is as in `retry_policy()`, or in the profile that it names. Throws
/// policy_syntax_error, whose message has the path to the fault, as `parse_policy` does.
ASIO_RETRY_JSON_DECL retry_policy policy_from_json(boost::json::value const& from);

/// The items of `to_string`. `policy_from_json` reads it under the same conditions.
ASIO_RETRY_JSON_DECL boost::json::value policy_to_json(retry_policy const& policy);

/// A `retryPolicy` of a service config of gRPC.
struct grpc_retry_policy {
    retry_policy policy;                             ///< what the service config says
    std::vector<std::string> retryable_status_codes; ///< such as "UNAVAILABLE", each once
};

/// Reads maxAttempts, initialBackoff, maxBackoff, backoffMultiplier and retryableStatusCodes, all of which must
/// be there; what else there is says nothing to a policy. Source: gRFC A6, "gRPC Retry Design", in the version
/// of 2024-08-23 (grpc/proposal pull request 452): a delay before retry n is drawn from min(initialBackoff *
/// backoffMultiplier^(n - 1), maxBackoff) * [0.8, 1.2], so it may lie above maxBackoff; the versions before
/// drew it from [0, min(...)]. More than 5 attempts are 5. A status code stands there "in the integer form or
/// the case-insensitive string form (eg. [14], ["UNAVAILABLE"] or ["unavailable"])". As in all JSON of protocol
/// buffers, and as gRPC's own parser reads it, a number may stand in quotation marks: "1.6".
///
/// Throws policy_syntax_error, whose message has the path to the fault, if fewer than 2 attempts are asked for,
/// a backoff is no positive number of seconds such as "0.5s", the multiplier is not positive, there is no
/// status code, or one is unknown or OK. A multiplier below 1 is legal there and refused here, because no
/// backoff of this library shrinks.
ASIO_RETRY_JSON_DECL grpc_retry_policy grpc_retry_policy_from_json(boost::json::value const& from);

} // namespace asio_retry
