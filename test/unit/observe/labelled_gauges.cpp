#include <asio_retry/observe/retry_metrics.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/exposition_parser.hpp"
#include "support/refuses.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class labelled_gauges : public testing::Test {
protected:
    exposition_parser parse(std::string_view common = {}) const {
        exposition_parser result(observed.prometheus(common));
        EXPECT_EQ(result.fault, "");
        return result;
    }

    /// What Prometheus reads as the value of the label that this is given.
    std::string read(std::string const& value) {
        retry_metrics fresh;
        fresh.add_gauge("shown", "", {{"of", value}}, one);
        exposition_parser const parsed(fresh.prometheus());
        EXPECT_EQ(parsed.fault, "");
        for (auto const& [series, unused] : parsed.samples)
            if (series.first == "shown")
                return series.second.contains("of") ? series.second.at("of") : "(no label)";
        return "(no line)";
    }

    retry_metrics observed;
    std::function<double()> one = [] { return 1.; };
};

// To the letter: one header for all gauges of a name, wherever they were added.
TEST_F(labelled_gauges, of_a_name_follow_one_header) {
    double depth = 3;
    observed.add_gauge("queue_depth", "Waiting jobs.", {{"queue", "mail"}}, [&] { return depth; });
    observed.add_gauge("workers", "Threads that work.", {}, [] { return 8.; });
    observed.add_gauge("queue_depth", "Waiting jobs.", {{"queue", "print"}, {"floor", "2"}},
                       [] { return 0.5; });
    observed.add_gauge("queue_depth", "Waiting jobs.", [] { return 4.; });
    EXPECT_THAT(observed.prometheus(R"(service="orders")"),
                EndsWith("# HELP queue_depth Waiting jobs.\n"
                         "# TYPE queue_depth gauge\n"
                         "queue_depth{service=\"orders\",queue=\"mail\"} 3\n"
                         "queue_depth{service=\"orders\",floor=\"2\",queue=\"print\"} 0.5\n"
                         "queue_depth{service=\"orders\"} 4\n"
                         "# HELP workers Threads that work.\n"
                         "# TYPE workers gauge\n"
                         "workers{service=\"orders\"} 8\n"));
    depth = 7;
    EXPECT_EQ(parse().value("queue_depth", {{"queue", "mail"}}), 7);
}

TEST_F(labelled_gauges, values_are_escaped) {
    for (std::string const value :
         {"a b, c{}=#", "two\nlines", R"(C:\data\x)", R"(a \"b\" c)", R"(\n)", "x\"} 1\nb 2\n#", "\"", "\\",
          "\\\"", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"})
        EXPECT_EQ(read(value), value);
    EXPECT_EQ(read(std::string("\0\x01\x7f\r", 4)), std::string("\0\x01\x7f\r", 4));
}

// To Prometheus a label without a value is none.
TEST_F(labelled_gauges, a_label_without_a_value_is_left_out) {
    EXPECT_EQ(read(""), "(no label)");
    observed.add_gauge("shown", "", {{"a", ""}, {"b", "x"}}, one);
    EXPECT_THAT(observed.prometheus(), EndsWith("# TYPE shown gauge\nshown{b=\"x\"} 1\n"));
    EXPECT_THAT(calling([&] { observed.add_gauge("shown", "", {{"b", "x"}, {"c", ""}}, one); }),
                refuses("retry_metrics.gauge", "shown", "must have labels that are not taken"));
}

TEST_F(labelled_gauges, refuse_names_that_are_none_or_taken) {
    auto const refuses_label = [&](std::vector<metric_label> const& labels, std::string const& value,
                                   std::string const& rule) {
        EXPECT_THAT(calling([&] { observed.add_gauge("mine", "", labels, one); }),
                    refuses("asio_retry: retry_metrics.label", value, rule));
    };
    for (char const* bad : {"", "1a", "a:b", "a b", "__name__", "__", "caf\xc3\xa9", "a\n"})
        refuses_label({{"ok", "1"}, {bad, "x"}}, "", "must be a name of letters, digits and _");
    for (char const* own : {"reason", "retried", "outcome", "error_type", "le"})
        refuses_label({{own, "x"}}, own, "must not be a name that lines have already");
    refuses_label({{"a", "1"}, {"b", "2"}, {"a", "3"}}, "a", "must be there once");
    refuses_label({{"a", "half of \xc3"}}, "half of \\xc3", "must be UTF-8");
    EXPECT_THAT(observed.prometheus(), testing::Not(HasSubstr("mine")));
}

TEST_F(labelled_gauges, refuse_the_same_labels_and_another_help) {
    observed.add_gauge("mine", "Mine.", {{"a", "1"}, {"b", "2"}}, one);
    EXPECT_THAT(calling([&] { observed.add_gauge("mine", "Mine.", {{"b", "2"}, {"a", "1"}}, one); }),
                refuses("retry_metrics.gauge", "mine", "must have labels that are not taken"));
    EXPECT_THAT(calling([&] { observed.add_gauge("mine", "Yours.", {{"a", "2"}}, one); }),
                refuses("retry_metrics.help", "Yours.", "must be that of the other gauges of the name"));
    EXPECT_THAT(calling([&] { observed.add_gauges("mine", "Mine.", [](gauge_sink const&) {}); }),
                refuses("retry_metrics.gauge", "mine", "must be a name that is not taken"));
    EXPECT_THAT(calling([&] { observed.add_gauge("mine", "Mine.", {{"a", "2"}}, nullptr); }),
                refuses("retry_metrics.gauge", "", "must"));
    EXPECT_EQ(parse().value("mine", {{"a", "1"}, {"b", "2"}}), 1);
}

// Only the text has both. No line is written then.
TEST_F(labelled_gauges, refuse_common_labels_of_the_same_name) {
    observed.add_gauge("mine", "", {{"zone", "a"}, {"empty", ""}}, one);
    observed.add_gauges("ours", "", [](gauge_sink const& put) { put({{"member", "x"}}, 1); });
    EXPECT_THAT(calling([&] { (void)observed.prometheus(R"(service="orders",zone="b")"); }),
                refuses("retry_metrics.labels", "zone", "must not be a label of the gauge mine too"));
    EXPECT_THAT(calling([&] { (void)observed.prometheus(R"(empty="b")"); }),
                refuses("retry_metrics.labels", "empty", "must not be a label of the gauge mine too"));
    EXPECT_THAT(calling([&] { (void)observed.prometheus(R"(member="b")"); }),
                refuses("retry_metrics.labels", "member", "must not be a label of the gauge ours too"));
    EXPECT_EQ(parse(R"(service="orders")").value("mine", {{"service", "orders"}, {"zone", "a"}}), 1);
}

TEST_F(labelled_gauges, of_a_set_come_and_go) {
    std::map<std::string, double> members = {{"a", 1}, {"b", 2}};
    observed.add_gauges("depth", "Of each.", [&](gauge_sink const& put) {
        for (auto const& [name, depth] : members)
            put({{"queue", name}, {"kind", "x"}}, depth);
    });
    std::string const before = "# HELP depth Of each.\n# TYPE depth gauge\n";
    EXPECT_THAT(observed.prometheus(),
                EndsWith(before + "depth{kind=\"x\",queue=\"a\"} 1\ndepth{kind=\"x\",queue=\"b\"} 2\n"));
    members = {{"b", 3}, {"c\n", 4}};
    EXPECT_THAT(observed.prometheus(R"(service="s")"),
                EndsWith(before + "depth{service=\"s\",kind=\"x\",queue=\"b\"} 3\n"
                                  "depth{service=\"s\",kind=\"x\",queue=\"c\\n\"} 4\n"));
    members.clear();
    EXPECT_THAT(observed.prometheus(), EndsWith(before));
    EXPECT_EQ(parse().value("depth"), std::nullopt);
}

// A member has the name that somebody gave it, and no name keeps Prometheus from the other members.
TEST_F(labelled_gauges, no_value_of_a_set_spoils_the_text) {
    observed.add_gauges("depth", "", [](gauge_sink const& put) {
        put({{"queue", "a"}}, 1);
        put({{"queue", "\xff"}}, 2);
        put({{"queue", "a"}}, 3);
        put({{"queue", "\xc0"}}, 4);
        put({{"queue", "\xf0\x9f\x98"}}, 5);
        put({}, 6);
        put({{"queue", ""}}, 7);
    });
    auto const parsed = parse();
    EXPECT_EQ(parsed.value("depth", {{"queue", "a"}}), 1) << "the first one counts";
    EXPECT_EQ(parsed.value("depth", {{"queue", "\xef\xbf\xbd"}}), 2);
    EXPECT_EQ(parsed.value("depth", {{"queue", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}}), 5);
    EXPECT_EQ(parsed.value("depth"), 6);
    EXPECT_EQ(parsed.samples.size(), 53u + 4u);
}

TEST_F(labelled_gauges, of_a_set_may_do_anything) {
    int calls = 0;
    observed.add_gauges("depth", "", [&](gauge_sink const& put) {
        if (++calls == 1)
            throw 7;
        if (calls == 2)
            observed.add_gauge("another", one);
        put({{calls == 3 ? "le" : "queue", "a"}}, static_cast<double>(observed.counts().pending));
    });
    EXPECT_THROW((void)observed.prometheus(), int);
    EXPECT_EQ(parse().value("depth", {{"queue", "a"}}), 0);
    EXPECT_THAT(calling([&] { (void)observed.prometheus(); }),
                refuses("retry_metrics.label", "le", "must not be a name that lines have already"));
    EXPECT_EQ(parse().value("another"), 1);
    EXPECT_THAT(calling([&] { observed.add_gauges("none", "", nullptr); }),
                refuses("retry_metrics.gauges", "", "must"));
    EXPECT_THAT(calling([&] { observed.add_gauges("a-b", "", [](gauge_sink const&) {}); }),
                refuses("retry_metrics.gauge", "a-b", "must be a name"));
    EXPECT_THAT(calling([&] { observed.add_gauge("depth", "", {{"queue", "b"}}, one); }),
                refuses("retry_metrics.gauge", "depth", "must be a name that is not taken"));
}

TEST_F(labelled_gauges, threads_add_them_while_another_writes) {
    constexpr int adders = 3, each = 60;
    std::atomic<int> running = adders;
    std::vector<std::thread> threads;
    for (int n = 0; n != adders; ++n)
        threads.emplace_back([&, n] {
            for (int i = 0; i != each; ++i) {
                std::string const number = std::to_string(i);
                observed.add_gauge("shared", "", {{"of", std::to_string(n)}, {"i", number}}, one);
                observed.add_gauges("own_" + std::to_string(n) + '_' + number, "",
                                    [](gauge_sink const& put) { put({{"x", "y"}}, 1); });
            }
            --running;
        });
    std::string fault;
    while (running > 0 && fault.empty())
        fault = exposition_parser(observed.prometheus("thread=\"writer\"")).fault;
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(fault, "");
    EXPECT_EQ(parse().samples.size(), 53u + std::size_t(2 * adders * each));
}

} // namespace
} // namespace asio_retry::test
