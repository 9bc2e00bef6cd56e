#include <asio_retry/observe/gauges.hpp>

#include <asio_retry/traffic/retry_budget.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/attempt_ends.hpp"
#include "support/endpoint_operation.hpp"
#include "support/exposition_parser.hpp"
#include "support/refuses.hpp"

#include <functional>
#include <locale>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

/// Compared whole, and written without its secret.
struct replica {
    std::string host;
    int port = 0;
    std::string secret = {};
    bool operator==(replica const&) const = default;
    friend std::ostream& operator<<(std::ostream& out, replica const& r) {
        return out << r.host << ':' << r.port;
    }
};

class set_gauges : public testing::Test {
protected:
    exposition_parser parse() const {
        exposition_parser result(observed.prometheus());
        EXPECT_EQ(result.fault, "");
        return result;
    }

    retry_metrics observed;
    time_point now = time_point(1000s);
    std::function<time_point()> clock = [this] { return now; };
};

// To the letter.
TEST_F(set_gauges, of_endpoints_say_what_the_set_knows) {
    auto const set = std::make_shared<endpoint_set<std::string>>(std::vector<std::string>{"a:1", "b \"2\"\n"});
    add_gauges(observed, "orders", set, {}, clock);
    std::string const b = "b \\\"2\\\"\\n";
    EXPECT_THAT(
        observed.prometheus(),
        EndsWith("# HELP orders_in_flight Attempts that run at the endpoint.\n"
                 "# TYPE orders_in_flight gauge\n"
                 "orders_in_flight{endpoint=\"a:1\"} 0\n"
                 "orders_in_flight{endpoint=\"" +
                 b +
                 "\"} 0\n"
                 "# HELP orders_state Whether the circuit breaker of the endpoint is in the state.\n"
                 "# TYPE orders_state gauge\n"
                 "orders_state{endpoint=\"a:1\",state=\"closed\"} 1\n"
                 "orders_state{endpoint=\"a:1\",state=\"open\"} 0\n"
                 "orders_state{endpoint=\"a:1\",state=\"half_open\"} 0\n"
                 "orders_state{endpoint=\"a:1\",state=\"isolated\"} 0\n"
                 "orders_state{endpoint=\"" +
                 b +
                 "\",state=\"closed\"} 1\n"
                 "orders_state{endpoint=\"" +
                 b +
                 "\",state=\"open\"} 0\n"
                 "orders_state{endpoint=\"" +
                 b +
                 "\",state=\"half_open\"} 0\n"
                 "orders_state{endpoint=\"" +
                 b +
                 "\",state=\"isolated\"} 0\n"
                 "# HELP orders_failure_share Share of failures among the recent attempts at the endpoint.\n"
                 "# TYPE orders_failure_share gauge\n"
                 "orders_failure_share{endpoint=\"a:1\"} 0\n"
                 "orders_failure_share{endpoint=\"" +
                 b +
                 "\"} 0\n"
                 "# HELP orders_latency_seconds Median latency of the last successes of the endpoint.\n"
                 "# TYPE orders_latency_seconds gauge\n"
                 "# HELP orders_ejected Whether the endpoint is asked no more for a while.\n"
                 "# TYPE orders_ejected gauge\n"
                 "orders_ejected{endpoint=\"a:1\"} 0\n"
                 "orders_ejected{endpoint=\"" +
                 b +
                 "\"} 0\n"
                 "# HELP orders_resting Whether the server wants to be left alone for a while.\n"
                 "# TYPE orders_resting gauge\n"
                 "orders_resting{endpoint=\"a:1\"} 0\n"
                 "orders_resting{endpoint=\"" +
                 b + "\"} 0\n"));
}

TEST_F(set_gauges, of_endpoints_follow_attempts_and_time) {
    auto const set = std::make_shared<endpoint_set<int>>(
        first_endpoints(1), endpoint_options{.breaker = {.consecutive = 2, .open_for = 5s, .probes = 1}});
    add_gauges(observed, "orders", set, {}, clock);
    auto const value = [&](std::string const& name, std::string const& state = {}) {
        exposition_parser::labels of = {{"endpoint", "0"}};
        if (!state.empty())
            of.emplace("state", state);
        return parse().value("orders_" + name, of);
    };
    random dice(1);
    endpoint_operation operation(*set, dice);
    EXPECT_EQ(value("latency_seconds"), std::nullopt) << "unknown";
    ASSERT_EQ(operation.begin(now), 0);
    EXPECT_EQ(value("in_flight"), 1);
    operation.succeed(now, 100ms);
    EXPECT_EQ(value("in_flight"), 0);
    for (int i = 0; i != 9; ++i) {
        (void)operation.begin(now);
        operation.succeed(now, 100ms);
    }
    EXPECT_NEAR(value("latency_seconds").value(), 0.1, 0.1 / 8);
    for (int i = 0; i != 2; ++i) {
        (void)operation.begin(now);
        operation.fail(now, 100ms);
    }
    EXPECT_NEAR(value("failure_share").value(), 2. / 12, 1e-9);
    EXPECT_EQ(value("state", "open"), 1);
    EXPECT_EQ(value("state", "closed"), 0);
    EXPECT_EQ(value("ejected"), 1);
    now += 5s;
    EXPECT_EQ(value("state", "open"), 0);
    EXPECT_EQ(value("state", "half_open"), 1);
    EXPECT_EQ(value("ejected"), 0);
}

TEST_F(set_gauges, of_endpoints_say_who_rests) {
    auto const set = std::make_shared<endpoint_set<int>>(first_endpoints(1));
    add_gauges(observed, "orders", set, {}, clock);
    auto const value = [&](std::string const& name) { return parse().value(name, {{"endpoint", "0"}}); };
    random dice(1);
    endpoint_operation operation(*set, dice);
    ASSERT_EQ(operation.begin(now), 0);
    EXPECT_EQ(value("orders_resting"), 0);
    attempt_end end = failure(failure_kind::throttled, now);
    end.said = pushback::after(30s);
    operation.end(end, 0);
    EXPECT_EQ(value("orders_resting"), 1);
    EXPECT_EQ(value("orders_ejected"), 0) << "rest is no ejection";
    now += 30s;
    EXPECT_EQ(value("orders_resting"), 0);
}

TEST_F(set_gauges, of_endpoints_come_and_go_with_them) {
    auto const set =
        std::make_shared<endpoint_set<replica>>(std::vector<replica>{{"a", 8080, "hush"}, {"b", 1, "y"}});
    add_gauges(observed, "orders", set);
    EXPECT_EQ(parse().value("orders_in_flight", {{"endpoint", "a:8080"}}), 0);
    EXPECT_THAT(observed.prometheus(), Not(HasSubstr("hush")));
    set->assign({{"b", 1, "y"}, {"c", 2, "z"}});
    auto const parsed = parse();
    EXPECT_EQ(parsed.value("orders_ejected", {{"endpoint", "a:8080"}}), std::nullopt);
    EXPECT_EQ(parsed.value("orders_ejected", {{"endpoint", "b:1"}}), 0);
    EXPECT_EQ(parsed.value("orders_state", {{"endpoint", "c:2"}, {"state", "closed"}}), 1);
}

TEST_F(set_gauges, of_endpoints_of_one_text_are_those_of_the_first) {
    auto const set =
        std::make_shared<endpoint_set<replica>>(std::vector<replica>{{"a", 1, "x"}, {"a", 1, "y"}});
    add_gauges(observed, "orders", set);
    add_gauges(observed, "told_apart", set, [](replica const& r) { return r.host + r.secret; });
    auto const parsed = parse();
    EXPECT_EQ(parsed.value("orders_in_flight", {{"endpoint", "a:1"}}), 0);
    EXPECT_EQ(parsed.value("told_apart_in_flight", {{"endpoint", "ax"}}), 0);
    EXPECT_EQ(parsed.value("told_apart_in_flight", {{"endpoint", "ay"}}), 0);
}

struct with_dots final : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

TEST_F(set_gauges, of_endpoints_know_no_locale) {
    std::locale const before = std::locale::global(std::locale(std::locale::classic(), new with_dots));
    EXPECT_EQ(endpoint_text()(replica{"a", 8080}), "a:8080");
    std::locale::global(before);
    EXPECT_EQ(endpoint_text()("text\n"), "text\n");
    EXPECT_EQ(endpoint_text()(std::string("a b")), "a b");
}

// A breaker for each key, which clients may have named.
TEST_F(set_gauges, of_breakers_have_a_key) {
    auto const gates = std::make_shared<keyed_gates<circuit_breaker>>(
        [] { return std::make_shared<circuit_breaker>(circuit_breaker_options{.consecutive = 1}); }, 2);
    add_gauges(observed, "tenants", gates, clock);
    EXPECT_EQ(parse().value("tenants_keys"), 0);
    (void)gates->at("a");
    gates->at("b\xff")->isolate();
    EXPECT_THAT(
        observed.prometheus(),
        EndsWith("# HELP tenants_keys Keys that have a gate.\n"
                 "# TYPE tenants_keys gauge\n"
                 "tenants_keys 2\n"
                 "# HELP tenants_state Whether the circuit breaker of the key is in the state.\n"
                 "# TYPE tenants_state gauge\n"
                 "tenants_state{key=\"b\xef\xbf\xbd\",state=\"closed\"} 0\n"
                 "tenants_state{key=\"b\xef\xbf\xbd\",state=\"open\"} 0\n"
                 "tenants_state{key=\"b\xef\xbf\xbd\",state=\"half_open\"} 0\n"
                 "tenants_state{key=\"b\xef\xbf\xbd\",state=\"isolated\"} 1\n"
                 "tenants_state{key=\"a\",state=\"closed\"} 1\n"
                 "tenants_state{key=\"a\",state=\"open\"} 0\n"
                 "tenants_state{key=\"a\",state=\"half_open\"} 0\n"
                 "tenants_state{key=\"a\",state=\"isolated\"} 0\n"
                 "# HELP tenants_failure_share Share of failures among the recent attempts of the key.\n"
                 "# TYPE tenants_failure_share gauge\n"
                 "tenants_failure_share{key=\"b\xef\xbf\xbd\"} 0\n"
                 "tenants_failure_share{key=\"a\"} 0\n"));
    (void)gates->at("c"); // forgets a, which a scrape has not made younger
    auto const parsed = parse();
    EXPECT_EQ(parsed.value("tenants_failure_share", {{"key", "a"}}), std::nullopt);
    EXPECT_EQ(parsed.value("tenants_failure_share", {{"key", "c"}}), 0);
    gates->at("c")->on_end(failure(failure_kind::transient, now));
    EXPECT_EQ(parse().value("tenants_state", {{"key", "c"}, {"state", "open"}}), 1);
    EXPECT_EQ(parse().value("tenants_failure_share", {{"key", "c"}}), 1);
    now += 5s;
    EXPECT_EQ(parse().value("tenants_state", {{"key", "c"}, {"state", "half_open"}}), 1);
}

TEST_F(set_gauges, of_other_gates_have_their_number) {
    auto const gates =
        std::make_shared<keyed_gates<retry_budget>>([] { return std::make_shared<retry_budget>(); });
    add_gauges(observed, "budgets", gates);
    (void)gates->at("a");
    EXPECT_EQ(parse().value("budgets_keys"), 1);
    EXPECT_THAT(observed.prometheus(), Not(HasSubstr("budgets_state")));
}

// All or none.
TEST_F(set_gauges, refuse_what_is_empty_or_taken) {
    auto const set = std::make_shared<endpoint_set<int>>(first_endpoints(1));
    auto const gates =
        std::make_shared<keyed_gates<circuit_breaker>>([] { return std::make_shared<circuit_breaker>(); });
    observed.add_gauge("orders_ejected", [] { return 1.; });
    EXPECT_THAT(calling([&] { add_gauges(observed, "orders", set); }),
                refuses("retry_metrics.gauge", "orders_ejected", "must be a name that is not taken"));
    EXPECT_THAT(observed.prometheus(), Not(HasSubstr("orders_in_flight")));
    observed.add_gauge("tenants_failure_share", [] { return 1.; });
    EXPECT_THAT(calling([&] { add_gauges(observed, "tenants", gates); }),
                refuses("retry_metrics.gauge", "tenants_failure_share", "must be a name that is not taken"));
    EXPECT_THAT(observed.prometheus(), Not(HasSubstr("tenants_keys")));
    EXPECT_THAT(calling([&] { add_gauges(observed, "or-ders", set); }),
                refuses("retry_metrics.gauge", "or-ders_in_flight", "must be a name"));
    EXPECT_THAT(calling([&] { add_gauges(observed, "x", std::shared_ptr<endpoint_set<int>>()); }),
                refuses("add_gauges.set", "null", "must be a set"));
    EXPECT_THAT(calling([&] { add_gauges(observed, "x", std::shared_ptr<keyed_gates<retry_budget>>()); }),
                refuses("add_gauges.gates", "null", "must be gates"));
    EXPECT_THAT(calling([&] { add_gauges(observed, "x", set, std::function<std::string(int)>()); }),
                refuses("add_gauges.text", "", "must"));
    EXPECT_THAT(calling([&] { add_gauges(observed, "x", set, {}, nullptr); }),
                refuses("add_gauges.now", "", "must"));
    EXPECT_THAT(calling([&] { add_gauges(observed, "x", gates, nullptr); }),
                refuses("add_gauges.now", "", "must"));
    EXPECT_EQ(parse().samples.size(), 53u + 2u);
}

// --- a plan of faults

TEST_F(set_gauges, decision_71_of_a_plan_say_what_it_injects) {
    auto const plan =
        std::make_shared<fault_plan>(fault_options{.errors = {0.5, error::exhausted}, .hangs = 0.5, .seed = 1});
    add_gauges(observed, "game_day", plan);
    parse();
    EXPECT_THAT(observed.prometheus(),
                EndsWith("# HELP game_day_enabled Whether attempts have injected faults.\n"
                         "# TYPE game_day_enabled gauge\n"
                         "game_day_enabled 0\n"
                         "# HELP game_day_attempts Attempts that began while faults were injected.\n"
                         "# TYPE game_day_attempts gauge\n"
                         "game_day_attempts 0\n"
                         "# HELP game_day_injected Attempts with an injected fault.\n"
                         "# TYPE game_day_injected gauge\n"
                         "game_day_injected{fault=\"error\"} 0\n"
                         "game_day_injected{fault=\"lost_answer\"} 0\n"
                         "game_day_injected{fault=\"delay\"} 0\n"
                         "game_day_injected{fault=\"hang\"} 0\n"));
    plan->enable();
    for (int i = 0; i != 10; ++i)
        static_cast<void>(detail::fault_access::draw(*plan));
    auto const counts = plan->counts();
    std::string const text = observed.prometheus();
    EXPECT_THAT(text, HasSubstr("\ngame_day_enabled 1\n"));
    EXPECT_THAT(text, HasSubstr("\ngame_day_attempts 10\n"));
    EXPECT_THAT(text, HasSubstr("fault=\"error\"} " + std::to_string(counts.errors) + "\n"));
    EXPECT_THAT(text, HasSubstr("fault=\"hang\"} " + std::to_string(counts.hangs) + "\n"));
    EXPECT_THAT(calling([&] { add_gauges(observed, "none", std::shared_ptr<fault_plan>()); }),
                refuses("add_gauges.plan = null: must be a fault_plan"));
}

} // namespace
} // namespace asio_retry::test
