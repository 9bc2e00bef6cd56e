#include <asio_retry/failure_class.hpp>

#include <asio_retry/permanent.hpp>

#include <boost/asio/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace asio_retry {

void PrintTo(failure_class const& what, std::ostream* out) {
    static constexpr char const* kinds[] = {"none",    "permanent", "transient",
                                            "timeout", "throttled", "overloaded"};
    *out << kinds[static_cast<int>(what.kind)] << '/' << (what.effect == effect::none ? "none" : "possible");
}

} // namespace asio_retry

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr failure_class no_failure{failure_kind::none, effect::none};
constexpr failure_class not_done{failure_kind::transient, effect::none};
constexpr failure_class perhaps_done{failure_kind::transient, effect::possible};
constexpr failure_class no_answer{failure_kind::timeout, effect::possible};
constexpr failure_class permanently{failure_kind::permanent, effect::possible};
constexpr failure_class throttled{failure_kind::throttled, effect::none};
constexpr failure_class throttled_late{failure_kind::throttled, effect::possible};
constexpr failure_class too_busy_late{failure_kind::overloaded, effect::possible};
constexpr failure_class too_busy{failure_kind::overloaded, effect::none};

error_code of_system(int value) {
    return error_code(value, boost::system::system_category());
}

#ifdef _WIN32 // whose system has other numbers than errno
constexpr int address_not_available = WSAEADDRNOTAVAIL;
constexpr int too_many_sockets = WSAEMFILE;
constexpr int too_many_files = ERROR_TOO_MANY_OPEN_FILES;
#else
constexpr int address_not_available = EADDRNOTAVAIL;
constexpr int too_many_sockets = EMFILE;
constexpr int too_many_files = ENFILE;
#endif

std::vector<std::pair<error_code, failure_class>> const all_codes = {
    {error_code(), no_failure},

    {asio::error::connection_refused, not_done},
    {asio::error::address_in_use, not_done},
    {of_system(address_not_available), not_done},
    {asio::error::no_descriptors, not_done},
    {of_system(too_many_sockets), not_done},
    {of_system(too_many_files), not_done},
    {asio::error::no_buffer_space, not_done},
    {asio::error::host_not_found, not_done},
    {asio::error::host_not_found_try_again, not_done},
    {asio::error::no_data, not_done},
    {error_code(EAI_AGAIN, asio::error::get_addrinfo_category()), not_done},
    {error::attempt_refused, not_done},
    {error::circuit_open, not_done},
    {error::client_throttled, not_done},
    {error::too_many_in_flight, not_done},
    {error::cooling_down, not_done},

    {asio::error::timed_out, no_answer},

    {asio::error::operation_aborted, permanently},
    {asio::error::invalid_argument, permanently},
    {asio::error::message_size, permanently},
    {asio::error::bad_descriptor, permanently},
    {asio::error::not_socket, permanently},
    {asio::error::fault, permanently},
    {asio::error::operation_not_supported, permanently},
    {asio::error::access_denied, permanently},
    {asio::error::no_permission, permanently},
    {asio::error::address_family_not_supported, permanently},
    {asio::error::no_protocol_option, permanently},
    {asio::error::already_connected, permanently},
    {asio::error::already_started, permanently},
    {asio::error::no_recovery, permanently},
    {asio::error::service_not_found, permanently},
    {asio::error::socket_type_not_supported, permanently},
    {permanent(error_code(asio::error::connection_refused)), permanently},
    {permanent(error_code(asio::error::eof)), permanently},
    {error::predicate_threw, permanently},
    {error::backoff_threw, permanently},
    {error::jitter_threw, permanently},
    {error::hook_threw, permanently},
    {error::exhausted, permanently},

    {asio::error::connection_reset, perhaps_done},
    {asio::error::not_connected, perhaps_done}, // also of shutdown() after a reset
    {asio::error::connection_aborted, perhaps_done},
    {asio::error::eof, perhaps_done},
    {asio::error::broken_pipe, perhaps_done},
    {asio::error::network_unreachable, perhaps_done},
    {asio::error::network_down, perhaps_done},
    {asio::error::network_reset, perhaps_done},
    {asio::error::host_unreachable, perhaps_done},
    {asio::error::no_memory, perhaps_done},
    {asio::error::try_again, perhaps_done},
    {asio::error::shut_down, perhaps_done},
    {asio::error::not_found, perhaps_done},
    {error::operation_threw, perhaps_done},
    {error::result_rejected, perhaps_done},
    {error_code(99, error_category()), perhaps_done},
    {error_code(99, asio::error::get_netdb_category()), perhaps_done},
    {error_code(99, asio::error::get_addrinfo_category()), perhaps_done},
    {of_system(99999), perhaps_done},
};

TEST(failure_class, of_every_code_of_the_table) {
    for (auto const& [code, expected] : all_codes)
        EXPECT_EQ(classify(code), expected) << code << " " << code.message();
}

TEST(failure_class, of_the_same_code_in_another_category) {
    EXPECT_EQ(classify(boost::system::errc::make_error_code(boost::system::errc::connection_refused)),
              not_done);
    EXPECT_EQ(classify(std::make_error_code(std::errc::connection_refused)), not_done);
    EXPECT_EQ(classify(std::error_code(detail::timed_out_error().value(), std::system_category())), no_answer);

    struct of_a_driver final : boost::system::error_category {
        char const* name() const noexcept override { return "driver"; }
        std::string message(int) const override { return "?"; }
        boost::system::error_condition default_error_condition(int value) const noexcept override {
            return value == 1 ? make_error_condition(boost::system::errc::timed_out)
                              : boost::system::error_condition(value, *this);
        }
    };
    static of_a_driver const driver;
    EXPECT_EQ(classify(error_code(1, driver)), no_answer);
    EXPECT_EQ(classify(error_code(ECONNREFUSED, driver)), perhaps_done);
}

TEST(failure_class, of_the_codes_of_grpc_hpp) {
    struct of_grpc final : boost::system::error_category {
        char const* name() const noexcept override { return "grpc"; }
        std::string message(int) const override { return "?"; }
    };
    static of_grpc const statuses;
    for (int code = 1; code <= 17; ++code)
        EXPECT_EQ(classify(error_code(code, statuses)), classify_grpc(code)) << code;
}

#ifdef _WIN32
TEST(failure_class, of_codes_whose_category_knows_no_condition) {
    for (bool const is_standard : {false, true}) {
        auto const of = [&](int value) {
            return is_standard ? error_code(std::error_code(value, std::system_category())) : of_system(value);
        };
        EXPECT_EQ(classify(of(ERROR_CONNECTION_REFUSED)), not_done);
        EXPECT_EQ(classify(of(ERROR_SEM_TIMEOUT)), no_answer);
        EXPECT_EQ(classify(of(ERROR_TIMEOUT)), no_answer);
        EXPECT_EQ(classify(of(ERROR_CANCELLED)), permanently);
        EXPECT_EQ(classify(of(WSAEADDRNOTAVAIL)), not_done);
        EXPECT_EQ(classify(of(WSATRY_AGAIN)), not_done);
        EXPECT_EQ(classify(of(WSAHOST_NOT_FOUND)), not_done);
        EXPECT_EQ(classify(of(WSANO_DATA)), not_done);
        EXPECT_EQ(classify(of(WSANO_RECOVERY)), permanently);
        EXPECT_EQ(classify(of(WSATYPE_NOT_FOUND)), permanently);
        EXPECT_EQ(classify(of(WSAECONNRESET)), perhaps_done);
    }
}
#endif

TEST(failure_class, of_what_is_thrown_goes_by_its_code) {
    EXPECT_EQ(classify(code_of(std::make_exception_ptr(std::runtime_error("x")))), perhaps_done);
    EXPECT_EQ(classify(code_of(std::make_exception_ptr(std::bad_alloc()))), perhaps_done);
}

TEST(failure_class, says_which_codes_are_worth_retrying) {
    for (auto const& [code, expected] : all_codes) {
        bool const worth = expected.kind != failure_kind::permanent;
        EXPECT_EQ(worth_retrying(code), worth) << code;
        EXPECT_EQ(surely_not_done(code), worth && expected.effect == effect::none) << code;
    }
    EXPECT_TRUE(surely_not_done(asio::error::connection_refused));
    EXPECT_FALSE(surely_not_done(asio::error::connection_reset));
    EXPECT_TRUE(surely_not_done(asio::error::host_not_found));
    EXPECT_FALSE(surely_not_done(asio::error::service_not_found));
}

TEST(failure_class, of_a_failure_nobody_has_described_is_transient_and_may_have_had_an_effect) {
    EXPECT_EQ(failure_class(), perhaps_done);
}

// Every status there can be, and some that are none.
TEST(failure_class, of_every_http_status) {
    std::map<int, failure_class> const exceptions = {
        {408, no_answer}, {421, not_done},    {425, not_done},
        {429, throttled}, {501, permanently}, {503, {failure_kind::overloaded, effect::possible}},
        {504, no_answer}, {505, permanently},
    };
    for (int status = -1; status <= 1000; ++status) {
        failure_class expected = permanently;
        if (auto const found = exceptions.find(status); found != exceptions.end())
            expected = found->second;
        else if (100 <= status && status < 400)
            expected = no_failure;
        else if (500 <= status && status < 600)
            expected = perhaps_done;
        EXPECT_EQ(classify_http(status), expected) << status;
    }
}

TEST(failure_class, of_every_grpc_code) {
    failure_class const all[] = {
        no_failure,     // OK
        permanently,    // CANCELLED
        perhaps_done,   // UNKNOWN
        permanently,    // INVALID_ARGUMENT
        no_answer,      // DEADLINE_EXCEEDED
        permanently,    // NOT_FOUND
        permanently,    // ALREADY_EXISTS
        permanently,    // PERMISSION_DENIED
        throttled_late, // RESOURCE_EXHAUSTED
        permanently,    // FAILED_PRECONDITION
        not_done,       // ABORTED
        permanently,    // OUT_OF_RANGE
        permanently,    // UNIMPLEMENTED
        perhaps_done,   // INTERNAL
        perhaps_done,   // UNAVAILABLE
        permanently,    // DATA_LOSS
        permanently,    // UNAUTHENTICATED
        permanently,    // no code
    };
    for (int code = 0; code < 18; ++code)
        EXPECT_EQ(classify_grpc(code), all[code]) << code;
    EXPECT_EQ(classify_grpc(-1), permanently);
}

TEST(failure_class, of_an_sqlstate) {
    std::pair<char const*, failure_class> const all[] = {
        {"00000", no_failure},   {"01000", no_failure},   {"01004", no_failure},   {"02000", no_failure},
        {"02001", no_failure},   {"40000", not_done},     {"40001", not_done},     {"40002", not_done},
        {"40P01", not_done},     {"40003", perhaps_done}, {"55P03", not_done},     {"57P03", not_done},
        {"25006", not_done},     {"08001", not_done},     {"08004", not_done},     {"08000", perhaps_done},
        {"08003", perhaps_done}, {"08006", perhaps_done}, {"08007", perhaps_done}, {"08P01", perhaps_done},
        {"57P01", perhaps_done}, {"57P02", perhaps_done}, {"57P05", perhaps_done}, {"58030", perhaps_done},
        {"57014", no_answer},    {"53000", too_busy},     {"53100", too_busy},     {"53200", too_busy},
        {"53300", too_busy},     {"53400", too_busy},     {"57P04", permanently},  {"57000", permanently},
        {"55000", permanently},  {"25000", permanently},  {"58000", permanently},  {"03000", permanently},
        {"22012", permanently},  {"23505", permanently},  {"28P01", permanently},  {"42601", permanently},
        {"XX000", permanently},  {"", permanently},       {"4000", permanently},   {"400010", permanently},
        {"00", permanently},
    };
    for (auto const& [state, expected] : all)
        EXPECT_EQ(classify_sqlstate(state), expected) << state;
}

TEST(failure_class, of_a_redis_error) {
    std::pair<char const*, failure_class> const all[] = {
        {"LOADING Redis is loading the dataset in memory", too_busy},
        {"-LOADING Redis is loading the dataset in memory\r\n", too_busy},
        {"BUSY Redis is busy running a script", too_busy},
        {"OOM command not allowed when used memory > 'maxmemory'.", too_busy},
        {"TRYAGAIN Multiple keys request during rehashing of slot", not_done},
        {"READONLY You can't write against a read only replica.", not_done},
        {"MASTERDOWN Link with MASTER is down", not_done},
        {"CLUSTERDOWN The cluster is down", not_done},
        {"-CLUSTERDOWN Hash slot not served", not_done},
        {"NOREPLICAS Not enough good replicas to write.", not_done},
        {"MISCONF Errors writing to the AOF file: No space left on device", not_done},
        {"ERR max number of clients reached", too_busy},
        {"-ERR max number of clients reached\r\n", too_busy},
        {"ERR max number of clients + cluster connections reached", too_busy},
        {"LOADING", too_busy},
        {"-OOM", too_busy},
        {"OOM command not allowed. script: 8f2a, on @user_script:1.", too_busy_late},
        {"-READONLY You can't write against a read only replica. script: f, on @user_function:2.",
         perhaps_done},
        {"ERR no such thing script: 8f2a, on @user_script:1.", permanently},
        {"EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.",
         too_busy},
        {"-EXECABORT Transaction discarded because of: READONLY You can't write against a read only "
         "replica.\r\n",
         not_done},
        {"EXECABORT Transaction discarded because of: NOREPLICAS Not enough good replicas to write.", not_done},
        {"EXECABORT Transaction discarded because of: BUSY Redis is busy running a script.", too_busy},
        {"EXECABORT Transaction discarded because of: TRYAGAIN", not_done},
        {"EXECABORT Transaction discarded because of: TRYAGAIN while a script: 8f2a", not_done},
        {"EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command",
         permanently},
        {"EXECABORT Transaction discarded because of: ERR OOM", permanently},
        {"EXECABORT Transaction discarded because of: -OOM", permanently},
        {"EXECABORT Transaction discarded because of:  OOM", permanently},
        {"EXECABORT Transaction discarded because of:\tOOM", permanently},
        {"EXECABORT Transaction discarded because of: \r\n", permanently},
        {"EXECABORT Transaction discarded because of: ", permanently},
        {"EXECABORT Transaction discarded because of:", permanently},
        {"EXECABORT Transaction discarded because of: EXECABORT Transaction discarded because of: OOM",
         permanently},
        {"EXECABORT Transaction discarded because of previous errors.", permanently},
        {"EXECABORT", permanently},
        {"execabort Transaction discarded because of: OOM", permanently},
        {"BUSYKEY Target key name already exists.", permanently},
        {"BUSYGROUP Consumer Group name already exists", permanently},
        {"MOVED 3999 127.0.0.1:6381", permanently},
        {"ASK 3999 127.0.0.1:6381", permanently},
        {"WRONGTYPE Operation against a key holding the wrong kind of value", permanently},
        {"NOAUTH Authentication required.", permanently},
        {"ERR unknown command", permanently},
        {"ERR", permanently},
        {"ERRmax number of clients reached", permanently},
        {"loading", permanently},
        {"--LOADING", permanently},
        {" LOADING", permanently},
        {"", permanently},
        {"-", permanently},
    };
    for (auto const& [reply, expected] : all)
        EXPECT_EQ(classify_redis(reply), expected) << reply;
}

TEST(failure_class, of_a_long_redis_error_that_nests_the_same_words) {
    std::string reply;
    for (int i = 0; i != 100'000; ++i)
        reply += "EXECABORT Transaction discarded because of: ";
    EXPECT_EQ(classify_redis(reply + "OOM"), permanently);
}

TEST(failure_class, of_a_reason_code_of_mqtt) {
    std::pair<int, failure_class> const all[] = {
        {0x00, no_failure},   {0x02, no_failure},     {0x10, no_failure}, // nobody has subscribed
        {0x7f, no_failure},   {0x80, perhaps_done},   {0x86, permanently},  {0x87, permanently},
        {0x88, not_done},     {0x89, too_busy},       {0x8a, permanently},  {0x8b, perhaps_done},
        {0x8d, perhaps_done}, {0x8e, permanently}, // another connection has the same name
        {0x91, not_done},     {0x96, throttled_late}, {0x97, throttled},    {0x9c, not_done},
        {0x9d, permanently},  {0x9f, throttled},      {0xa0, perhaps_done}, {0xff, permanently},
        {0x100, permanently}, {-1, permanently},
    };
    for (auto const& [code, expected] : all)
        EXPECT_EQ(classify_mqtt(code), expected) << code;
}

TEST(judge_http, is_what_the_status_means_and_what_the_peer_said) {
    judgement const busy = judge_http(503, "120");
    EXPECT_TRUE(busy.failed);
    EXPECT_EQ(busy.what.kind, failure_kind::overloaded);
    EXPECT_EQ(busy.said, pushback::after(120s));

    judgement const silent = judge_http(500);
    EXPECT_TRUE(silent.failed);
    EXPECT_EQ(silent.what, perhaps_done);
    EXPECT_FALSE(silent.said);

    judgement const refused = judge_http(404);
    EXPECT_TRUE(refused.failed);
    EXPECT_EQ(refused.what, permanently);

    judgement const fine = judge_http(301, "120");
    EXPECT_FALSE(fine.failed);
    EXPECT_EQ(fine.what, no_failure);
    EXPECT_FALSE(fine.said) << "a redirect may say so too, but it is no failure";

    auto const now =
        std::chrono::system_clock::time_point(std::chrono::sys_days(std::chrono::year(2026) / 11 / 22));
    EXPECT_EQ(judge_http(429, "Sun, 22 Nov 2026 00:00:09 GMT", now).said, pushback::after(9s));
}

/// As the string_view of Boost.Beast.
struct view_of_another_library {
    std::string_view text;
    operator std::string_view() const noexcept { return text; }
};

// As programs called it before there were `http_fields`. Each of these lists fits both forms.
TEST(judge_http, takes_a_braced_list_for_the_text_of_retry_after) {
    std::string const text = "7";
    view_of_another_library const view{text};
    char const* const begin = text.data();
    EXPECT_FALSE(judge_http(429, {}).said);
    EXPECT_EQ(judge_http(429, {"7"}).said, pushback::after(7s));
    EXPECT_EQ(judge_http(429, {text}).said, pushback::after(7s));
    EXPECT_EQ(judge_http(429, {view}).said, pushback::after(7s));
    EXPECT_EQ(judge_http(429, {begin, 1}).said, pushback::after(7s));
    EXPECT_EQ(judge_http(429, {begin, begin + 1}).said, pushback::after(7s));
    EXPECT_EQ(judge_http(429, text).said, pushback::after(7s));
    EXPECT_EQ(judge_http(429, view, {}).said, pushback::after(7s));
    EXPECT_EQ(judge_http(429, {.retry_after_ms = "7"}).said, pushback::after(7ms));
    EXPECT_EQ(judge_http(429, http_fields{"7", "8000"}).said, pushback::after(8s));
    http_fields fields{.retry_after = text};
    EXPECT_EQ(judge_http(429, fields, {}).said, pushback::after(7s));
    static_assert(noexcept(judge_http(429, fields)));
}

// What packages send, with the time at which they sent it. The page about HTTP has the same table.
TEST(judge_http, decision_29_takes_the_wish_of_each_field_that_servers_send) {
    using std::chrono::milliseconds;
    struct row {
        int status;
        http_fields fields;
        failure_kind kind;
        pushback said;
        std::int64_t now_ms = 0;
    };
    using enum failure_kind;
    for (row const& each : {
             row{429, {.rate_limit = "limit=1, remaining=0, reset=91"}, throttled, pushback::after(91s)},
             row{429, {.rate_limit = "\"1-in-1min\"; r=0; t=91"}, throttled, pushback::after(91s)},
             row{429,
                 {.rate_limit = "\"10-in-1sec\"; r=8; t=1, \"hour\"; r=0; t=3600"},
                 throttled,
                 pushback::after(3600s)},
             row{429,
                 {.rate_limit_reset = "1795897305.699802"},
                 throttled,
                 pushback::after(699802us),
                 1'795'897'305'000},
             row{429,
                 {.rate_limit_reset = "1795896072242"},
                 throttled,
                 pushback::after(242ms),
                 1'795'896'072'000},
             row{429, {.retry_after = "0.873"}, throttled, pushback::after(873ms)},
             row{413, {.retry_after = "7"}, throttled, pushback::after(7s)},
             row{403, {.retry_after = "91"}, throttled, pushback::after(91s)},
             row{429, {.retry_after = "60"}, throttled, pushback::after(60s)}, // its field is Retry-After-long
             row{200, {.retry_after = "60"}, none, pushback()},
             // The last request that both limits grant; the program then answers 403 or 413 itself.
             row{403, {.rate_limit = "\"hour\"; r=0; t=3600"}, permanent, pushback()},
             row{413, {.rate_limit = "limit=1, remaining=0, reset=3600"}, permanent, pushback()},
             row{429, {.retry_after = "0"}, throttled, pushback::after(0s)},
         }) {
        std::chrono::system_clock::time_point const now{milliseconds(each.now_ms)};
        judgement const judged = judge_http(each.status, each.fields, now);
        EXPECT_EQ(judged.what.kind, each.kind) << each.status;
        EXPECT_EQ(judged.failed, each.kind != none) << each.status;
        EXPECT_EQ(judged.said, each.said) << each.status << ": " << judged.said.delay().count();
        EXPECT_EQ(judged.status, each.status);
    }
}

TEST(judge_http, takes_the_longest_wish_of_the_fields) {
    auto const wish = [](http_fields const& fields) { return judge_http(503, fields).said; };
    http_fields all{.retry_after = "1",
                    .retry_after_ms = "1001",
                    .rate_limit = "remaining=0, reset=1",
                    .rate_limit_reset = "0.5"};
    EXPECT_EQ(wish(all), pushback::after(1001ms));
    all.rate_limit_reset = "2";
    EXPECT_EQ(wish(all), pushback::after(2s));
    all.rate_limit = "remaining=0, reset=3";
    EXPECT_EQ(wish(all), pushback::after(3s));
    all.retry_after = "4";
    EXPECT_EQ(wish(all), pushback::after(4s));
    all.retry_after = "soon";
    all.rate_limit = "remaining=1, reset=3";
    EXPECT_EQ(wish(all), pushback::after(2s)) << "the others say nothing";
    EXPECT_EQ(wish({}), pushback());
    EXPECT_EQ(
        wish({.retry_after = "never", .retry_after_ms = "-1", .rate_limit = "?", .rate_limit_reset = "nan"}),
        pushback());
}

TEST(judge_http, takes_joined_lines_of_rate_limit_only) {
    EXPECT_EQ(judge_http(429, {.rate_limit = "\"a\";r=0;t=7, \"b\";r=0;t=9"}).said, pushback::after(9s));
    for (http_fields const& fields : {http_fields{.retry_after = "7, 7"}, http_fields{.retry_after_ms = "7, 7"},
                                      http_fields{.rate_limit_reset = "7, 7"}})
        EXPECT_FALSE(judge_http(429, fields).said);
}

TEST(judge_http, calls_403_and_413_throttled_if_they_have_a_retry_after) {
    failure_class const limited{failure_kind::throttled, effect::none};
    for (int const status : {403, 413}) {
        EXPECT_EQ(judge_http(status, "7").what, limited) << status;
        EXPECT_EQ(judge_http(status, "7").said, pushback::after(7s)) << status;
        EXPECT_EQ(judge_http(status, {.retry_after_ms = "7"}).what, limited) << status;
        for (http_fields const& fields :
             {http_fields{}, http_fields{.retry_after = "soon"}, http_fields{.rate_limit = "\"a\";r=0;t=7"},
              http_fields{.rate_limit_reset = "7"}}) {
            EXPECT_EQ(judge_http(status, fields).what, permanently) << status;
            EXPECT_FALSE(judge_http(status, fields).said) << status;
        }
        EXPECT_EQ(judge_http(status).what, permanently) << status;
    }
    for (int const status : {400, 401, 404, 409, 451, 501})
        EXPECT_EQ(judge_http(status, "7").what, permanently) << status;
}

// Many servers send them with each response.
TEST(judge_http, takes_a_rate_limit_or_a_reset_for_a_wish_after_429_and_503_only) {
    for (int const status : {200, 403, 404, 408, 413, 425, 429, 500, 502, 503, 504})
        for (http_fields const& fields :
             {http_fields{.rate_limit = "\"a\";r=0;t=7"}, http_fields{.rate_limit_reset = "7"}})
            EXPECT_EQ(bool(judge_http(status, fields).said), status == 429 || status == 503) << status;
}

TEST(judgement, is_no_failure_unless_something_is_said) {
    EXPECT_FALSE(judgement().failed);
    EXPECT_EQ(judgement().what, perhaps_done);
    EXPECT_FALSE(judgement().said);
}

} // namespace
} // namespace asio_retry::test
