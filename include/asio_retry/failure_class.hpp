#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/pushback.hpp>

#include <chrono>
#include <concepts>
#include <iosfwd>
#include <string_view>

namespace asio_retry {

/// The kind of a failure: whether the server has answered, and whether a retry makes sense.
enum class failure_kind : unsigned char {
    none,       ///< a success
    permanent,  ///< a retry will not mend it: the server has answered
    transient,  ///< the next attempt may succeed
    timeout,    ///< no answer came in time
    throttled,  ///< the server limits this client: 429, RESOURCE_EXHAUSTED
    overloaded, ///< the server has too much to do: 503, LOADING
};

/// The enumerator's name, for logs.
ASIO_RETRY_DECL std::string_view to_string(failure_kind kind) noexcept;
/// Writes the enumerator's name.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, failure_kind kind);

/// The possible effect of a failed attempt at the server.
enum class effect : unsigned char {
    none,     ///< nothing: the request was not sent, or the server refused it as a whole
    possible, ///< the server may have carried out the request
};

/// The meaning of a failure: its kind and its effect. A success is {none, effect::none}; a permanent failure
/// has a possible effect.
struct failure_class {
    failure_kind kind = failure_kind::transient;              ///< about the server
    asio_retry::effect effect = asio_retry::effect::possible; ///< at the server

    friend constexpr bool operator==(failure_class const&, failure_class const&) noexcept = default;
};

/// The meaning of an error code of the system, this library, Boost.Asio with OpenSSL, Boost.Beast, Boost.MySQL
/// or Boost.MQTT5.
///
/// Codes of other categories count too if they are equivalent to one of the system's. Any other code is of a
/// foreign category. Nothing is known of it, as of an exception without a code, and it counts as transient.
/// Names such as `asio.ssl` are categories. The numbers of OpenSSL 1.1 and 3 are known.
///
/// | code | kind | effect |
/// |---|---|---|
/// | connection_refused, address_in_use, EADDRNOTAVAIL | transient | none |
/// | EMFILE, ENFILE, no_buffer_space | transient | none |
/// | host_not_found, host_not_found_try_again, no_data | transient | none |
/// | condition::refused | transient | none |
/// | timed_out | timeout | possible |
/// | operation_aborted, invalid_argument, message_size | permanent | possible |
/// | bad_descriptor, not_socket, fault | permanent | possible |
/// | operation_not_supported, address_family_not_supported | permanent | possible |
/// | no_protocol_option, access_denied, no_permission | permanent | possible |
/// | already_connected, already_started, socket_type_not_supported | permanent | possible |
/// | no_recovery, service_not_found | permanent | possible |
/// | errors that `permanent` has marked | permanent | possible |
/// | condition::callback_threw, error::exhausted | permanent | possible |
/// | `asio.ssl`: certificates, versions, ciphers, alerts, all but the next line | permanent | possible |
/// | `asio.ssl`: end of file, shut down, bad MAC, internal_error, user_canceled | transient | possible |
/// | `asio.ssl.stream`: stream_truncated | transient | possible |
/// | `boost.beast`: timeout | timeout | possible |
/// | `beast.http`: end_of_stream, partial_message, bad_alloc | transient | possible |
/// | `beast.http`: the others, such as body_limit and bad_version | permanent | possible |
/// | `boost.beast.websocket`: closed | transient | possible |
/// | `boost.beast.websocket`: the others, such as upgrade_declined | permanent | possible |
/// | `grpc` | as `classify_grpc` says | as `classify_grpc` says |
/// | `mysql.common-server`: 1040, 1203 too many connections | overloaded | none |
/// | `mysql.common-server`: 1135, 1206, 1637 no resources | overloaded | none |
/// | `mysql.common-server`: 1021, 1037, 1038, 1041 no room, of the statement | overloaded | possible |
/// | `mysql.common-server`: 1226 ER_USER_LIMIT_REACHED | throttled | possible |
/// | `mysql.common-server`: 1213 deadlock; 1020, 1047, 1613, 1614 | transient | none |
/// | `mysql.common-server`: 1205 lock wait timeout, of the statement; 1412, 1615, 1689 | transient | possible |
/// | `mysql.common-server`: 1290, 1836 read-only, of the statement | transient | possible |
/// | `mysql.common-server`: 1053, 1077, 1079, 1080, 1043, 1152, 1158-1161, 1184 | transient | possible |
/// | `mysql.common-server`: 1317 ER_QUERY_INTERRUPTED | timeout | possible |
/// | `mysql.mariadb-server`: 1927 killed | transient | possible |
/// | `mysql.mariadb-server`: 1969 statement timeout | timeout | possible |
/// | `mysql.mysql-server`: 3032, 3101 | transient | none |
/// | `mysql.mysql-server`: 3058, 3572 no lock; 3169 killed, 4031 idle | transient | possible |
/// | `mysql.mysql-server`: 3024 query timeout | timeout | possible |
/// | `mysql.client`: no_connection_available, not_connected | transient | none |
/// | `mysql.client`: incomplete_message, sequence_number_mismatch | transient | possible |
/// | the four of `mysql`: the others, such as 1045 access denied and 1064 syntax error | permanent | possible |
/// | `mqtt_client_error`: session_expired | transient | possible |
/// | `mqtt_client_error`: pid_overrun | overloaded | none |
/// | `mqtt_client_error`: the others, such as invalid_topic | permanent | possible |
/// | every other: connection_reset, not_connected, eof, broken_pipe | transient | possible |
ASIO_RETRY_DECL failure_class classify(error_code const& ec) noexcept;

/// The meaning of the status of an HTTP response.
///
/// | status | kind | effect | source |
/// |---|---|---|---|
/// | 100-399 | none | none | RFC 9110, 15.2-15.4 |
/// | 408 Request Timeout | timeout | possible | RFC 9110, 15.5.9 |
/// | 421 Misdirected Request | transient | none | RFC 9110, 15.5.20: retry over another connection |
/// | 425 Too Early | transient | none | RFC 8470, 5.2 |
/// | 429 Too Many Requests | throttled | none | RFC 6585, 4 |
/// | 503 Service Unavailable | overloaded | possible | RFC 9110, 15.6.4 |
/// | 504 Gateway Timeout | timeout | possible | RFC 9110, 15.6.5 |
/// | 501 Not Implemented, 505 HTTP Version Not Supported | permanent | possible | RFC 9110, 15.6.2 and 15.6.6 |
/// | 500, 502 and other 5xx | transient | possible | RFC 9110, 15.6 |
/// | other 4xx | permanent | possible | RFC 9110, 15.5; see `judge_http` for 403 and 413 |
/// | a number that is no status | permanent | possible | RFC 9110, 15 |
ASIO_RETRY_DECL failure_class classify_http(int status) noexcept;

/// The meaning of a gRPC status code.
///
/// | code | kind | effect | the source says |
/// |---|---|---|---|
/// | 0 OK | none | none | |
/// | 2 UNKNOWN, 13 INTERNAL | transient | possible | errors of a transport come as these |
/// | 4 DEADLINE_EXCEEDED | timeout | possible | "may be returned even if the operation has completed" |
/// | 8 RESOURCE_EXHAUSTED | throttled | possible | "perhaps a per-user quota"; or the response was too large |
/// | 10 ABORTED | transient | none | "retry at a higher level": a transaction was undone |
/// | 14 UNAVAILABLE | transient | possible | "can be corrected by retrying with a backoff" |
/// | every other | permanent | possible | |
///
/// Source: gRPC, "Status codes and their use in gRPC" (doc/statuscodes.md).
ASIO_RETRY_DECL failure_class classify_grpc(int code) noexcept;

/// The meaning of an SQLSTATE, five characters.
///
/// | state | kind | effect |
/// |---|---|---|
/// | classes 00, 01, 02: success, warning, no data | none | none |
/// | class 40: transaction rollback, but 40003 | transient | none |
/// | 40003 statement completion unknown | transient | possible |
/// | 55P03 lock not available, 57P03 cannot connect now, 25006 read-only transaction | transient | none |
/// | 08001 unable to establish a connection, 08004 connection rejected | transient | none |
/// | class 08, the others: connection exception | transient | possible |
/// | 57P01 admin shutdown, 57P02 crash shutdown, 57P05 idle session timeout | transient | possible |
/// | 58030 I/O error | transient | possible |
/// | 57014 query canceled, as by statement_timeout | timeout | possible |
/// | class 53: insufficient resources | overloaded | none |
/// | every other, and a text without five characters | permanent | possible |
///
/// The state does not say whether the connection lives. A standby of PostgreSQL may report 40001 as FATAL, and
/// end the connection: ask the client library before the next attempt, such as PQstatus() of libpq.
/// The state is about one transaction. A procedure that has called COMMIT has done a part before.
///
/// Source: PostgreSQL, "Appendix A. PostgreSQL Error Codes"; ISO 9075 defines the classes.
ASIO_RETRY_DECL failure_class classify_sqlstate(std::string_view state) noexcept;

/// The meaning of an error reply of Redis or Valkey, by its first word; for ERR, by its text.
///
/// The reply is a text such as "LOADING Redis is loading the dataset in memory", with or without the "-" of the
/// protocol.
///
/// | word | kind | effect |
/// |---|---|---|
/// | LOADING, BUSY, OOM | overloaded | none |
/// | ERR max number of clients | overloaded | none |
/// | TRYAGAIN, READONLY, MASTERDOWN, CLUSTERDOWN, NOREPLICAS | transient | none |
/// | MISCONF: it cannot write its file, and refuses writes until it can | transient | none |
/// | EXECABORT Transaction discarded because of: WORD | as WORD | as WORD |
/// | one of these with ` script: ` in its text, as of a script in Redis 7 | as WORD | possible |
/// | every other, such as EXECABORT Transaction discarded because of previous errors | permanent | possible |
///
/// An error in the array that EXEC returns is about its command alone: the others were done.
/// An error that a script returns, by `redis.pcall` or `redis.error_reply`, has no ` script: ` in its text, and
/// the script may have done a part before. So take the kind of a reply to EVAL, EVALSHA and FCALL from here,
/// and `effect::possible`.
///
/// Source: Redis, "Redis error messages", "Transactions" and "Redis Lua API reference".
ASIO_RETRY_DECL failure_class classify_redis(std::string_view error_reply) noexcept;

/// The meaning of a reason code of MQTT 5, such as `reason_code::value()` of Boost.MQTT5.
///
/// | code | kind | effect |
/// |---|---|---|
/// | 0x00-0x7f: success | none | none |
/// | 0x89 Server busy | overloaded | none |
/// | 0x97 Quota exceeded, 0x9F Connection rate exceeded | throttled | none |
/// | 0x96 Message rate too high | throttled | possible |
/// | 0x88 Server unavailable, 0x91 Packet Identifier in use, 0x9C Use another server | transient | none |
/// | 0x80 Unspecified error, 0x8B Server shutting down | transient | possible |
/// | 0x8D Keep Alive timeout, 0xA0 Maximum connect time | transient | possible |
/// | every other, such as 0x86 Bad User Name or Password and 0x87 Not authorized | permanent | possible |
///
/// The effect is that of the packet that the code answers. A DISCONNECT answers none: after it, a message
/// without an acknowledgement may have been delivered, whatever its code.
///
/// Source: OASIS, "MQTT Version 5.0", 2.4, 3.2.2.2 and 3.14.2.1.
ASIO_RETRY_DECL failure_class classify_mqtt(int reason_code) noexcept;

/// For `retry_if`: a retry may help, because the kind of the error is not `permanent`.
ASIO_RETRY_DECL bool worth_retrying(error_code const& ec) noexcept;

/// For `retry_if` of requests that must not happen twice: a retry may help, and the server has done nothing.
ASIO_RETRY_DECL bool surely_not_done(error_code const& ec) noexcept;

/// The answer of a predicate of `fail_if` about a value. With the kind `none` the value has not failed.
struct judgement {
    bool failed = false;  ///< whether the value is a failure
    failure_class what{}; ///< the meaning of the failure
    pushback said{};      ///< the server's wish about retries
    int status = 0;       ///< status of the HTTP response; 0: none, or not known
};

/// The fields of an HTTP response that say when to come back; an empty one says nothing.
///
/// `judge_http` looks at the texts during the call only. If RateLimit has several lines, give their texts,
/// joined with commas. Of every other field give one line: several, joined, say nothing.
struct http_fields {
    std::string_view retry_after = {};      ///< Retry-After; see `parse_retry_after`
    std::string_view retry_after_ms = {};   ///< retry-after-ms; see `parse_retry_after_ms`
    std::string_view rate_limit = {};       ///< RateLimit; see `parse_rate_limit`
    std::string_view rate_limit_reset = {}; ///< X-RateLimit-Reset; see `parse_rate_limit_reset`
};

namespace detail {
ASIO_RETRY_DECL judgement judge_http_fields(int status, http_fields const& fields,
                                            std::chrono::system_clock::time_point now) noexcept;
}

/// Judges an HTTP response by its status and its fields. Never throws.
///
/// The kind and the effect are those of `classify_http`, with one exception: 403 and 413 with a wish are
/// {throttled, none}. Without a wish they are permanent.
///
/// The wish is the longest one of the fields. A success has none. `rate_limit` and `rate_limit_reset` count for
/// 429 and 503 only, since many servers send them with every response, also with a 403 for another reason. A
/// text that its parser cannot read says nothing. `after(0)` asks for no delay beyond the policy's own.
///
/// `now` is the time with which dates and times since 1970 are compared: the response's `Date` if you know it.
/// Source: RFC 9110, 10.2.3 and 15.5.14 (413 with Retry-After is temporary).
///
/// `Fields` is always `http_fields`. As this is a template, a list that fits both forms, such as `{}` or
/// `{text}`, is the text of Retry-After.
template <std::same_as<http_fields> Fields = http_fields>
judgement judge_http(int status, Fields const& fields,
                     std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) noexcept {
    return detail::judge_http_fields(status, fields, now);
}

/// Judges an HTTP response by its status and its field Retry-After alone, as the form with `http_fields` does.
ASIO_RETRY_DECL judgement
judge_http(int status, std::string_view retry_after = {},
           std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) noexcept;

} // namespace asio_retry
