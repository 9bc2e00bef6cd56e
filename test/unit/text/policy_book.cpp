#include <asio_retry/policy_book.hpp>

#include "support/gate_values.hpp"
#include "support/message_of.hpp"

#include <asio_retry/profiles.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;

constexpr std::string_view two_policies = "orders = max_attempts(5)\nsearch = max_attempts(7)\n";

std::optional<std::uint64_t> attempts(retry_policy const& policy) {
    return policy.settings().max_attempts;
}

/// What the reload says; the policies must then be as before.
std::string refusal(policy_book& book, std::string_view text) {
    auto const present = [&] {
        std::string all;
        book.for_each([&](std::string const& name, retry_policy const& policy) {
            all += name + " = " + to_string(policy) + '\n';
        });
        return all;
    };
    std::string const before = present();
    std::string const said = complaint_of<policy_syntax_error>([&] { return (book.reload(text), 0); });
    EXPECT_EQ(present(), before) << text;
    return said;
}

static_assert(!std::is_copy_constructible_v<policy_book>);
static_assert(noexcept(std::declval<policy_book const&>().find("")));

TEST(policy_book, has_policies_by_name) {
    policy_book const book(two_policies);
    EXPECT_EQ(attempts(book["orders"]), 5u);
    EXPECT_EQ(attempts(book["search"]), 7u);
    EXPECT_EQ(attempts(book.find("search").value()), 7u);
    EXPECT_EQ(book.find("checkout"), std::nullopt);
}

TEST(policy_book, names_a_similar_policy_where_there_is_none) {
    policy_book const book(two_policies);
    auto const fault = [&](std::string_view name) {
        return complaint_of<std::out_of_range>([&] { return book[name]; });
    };
    EXPECT_EQ(fault("order"), "asio_retry: policy_book: no policy 'order'; did you mean orders?");
    EXPECT_EQ(fault("Search"), "asio_retry: policy_book: no policy 'Search'; did you mean search?");
    EXPECT_EQ(fault("checkout\x1b"), "asio_retry: policy_book: no policy 'checkout\\x1b'");
    EXPECT_EQ(fault(""), "asio_retry: policy_book: no policy ''");
}

TEST(policy_book, lists_its_policies_in_the_order_of_the_text) {
    policy_book const book("z = celery\na = max_attempts(2)\nm = grpc");
    std::vector<std::string> names;
    book.for_each([&](std::string const& name, retry_policy const&) { names.push_back(name); });
    EXPECT_THAT(names, ElementsAre("z", "a", "m"));
}

TEST(policy_book, is_not_made_of_a_text_with_a_fault) {
    EXPECT_EQ(complaint_of<policy_syntax_error>([] { return std::make_unique<policy_book>("a = celery\nb"); }),
              "asio_retry: at line 2, column 1: expected 'name = policy', found 'b'");
}

TEST(policy_book, is_made_of_policies_with_gates) {
    auto const budget = std::make_shared<retry_budget>();
    std::vector<named_policy> policies = parse_policies(two_policies);
    for (named_policy& each : policies)
        each.policy = each.policy.gate(budget);
    policy_book book(policies);
    EXPECT_EQ(book["orders"].settings().gate, budget);
    book.reload(two_policies);
    EXPECT_EQ(book["orders"].settings().gate, nullptr);
    EXPECT_EQ(book["orders"].gate(budget).settings().gate, budget);
    book.reload(policies);
    EXPECT_EQ(book["search"].settings().gate, budget);
}

TEST(policy_book, refuses_a_list_with_faults) {
    auto const fault = [](std::vector<named_policy> const& policies) {
        policy_book book(two_policies);
        std::string const said = complaint_of<policy_syntax_error>([&] { return (book.reload(policies), 0); });
        EXPECT_EQ(complaint_of<policy_syntax_error>([&] { return std::make_unique<policy_book>(policies); }),
                  said);
        return said;
    };
    std::string const at = "asio_retry: at a list of policies: ";
    EXPECT_EQ(fault({}), at + "expected a policy, found none");
    EXPECT_EQ(fault({{"a", {}}, {"b", {}}, {"a", {}}}), at + "a second policy with the name 'a'");
    EXPECT_EQ(fault({{"", {}}}), at + "expected a name of at least one character, found none");
    EXPECT_EQ(fault({{"a\xff", {}}}),
              at + "expected a name of UTF-8 without control characters, found 'a\\xff'");
}

TEST(policy_book, decision_70_replaces_all_policies) {
    policy_book book(two_policies);
    book.reload("search = max_attempts(2)\ncheckout = max_attempts(3)\norders = max_attempts(4)");
    EXPECT_EQ(attempts(book["orders"]), 4u);
    EXPECT_EQ(attempts(book["search"]), 2u);
    EXPECT_EQ(attempts(book["checkout"]), 3u);
}

TEST(policy_book, decision_70_keeps_all_policies_if_the_text_has_a_fault) {
    policy_book book(two_policies);
    EXPECT_EQ(refusal(book, "orders = max_attempts(9)\nsearch = max_attempts(O)\n"),
              "asio_retry: at line 2, column 23: expected a value, found 'O'");
    EXPECT_EQ(refusal(book, "orders = max_attempts(9)\nsearch max_attempts(2)\n"),
              "asio_retry: at line 2, column 1: expected 'name = policy', found 'search max_attempts(2)'");
}

TEST(policy_book, decision_70_keeps_all_policies_if_the_text_is_empty) {
    policy_book book(two_policies);
    EXPECT_EQ(refusal(book, ""), "asio_retry: at line 1, column 1: expected 'name = policy', found the end");
    for (std::string_view const text : {" \n", "# orders = max_attempts(5)\n", "\xef\xbb\xbf"})
        EXPECT_THAT(refusal(book, text), EndsWith("expected 'name = policy', found the end"));
    EXPECT_THAT(refusal(book, std::string(4096, '\0')), testing::HasSubstr("line 1, column 1"));
}

TEST(policy_book, decision_70_removes_no_policy) {
    policy_book book(two_policies);
    EXPECT_EQ(refusal(book, "orders = max_attempts(9)\n"),
              "asio_retry: at line 2, column 1: expected a policy 'search', because a reload removes none");
    EXPECT_THAT(refusal(book, "search = max_attempts(9)\nOrders = celery"),
                testing::HasSubstr("line 2, column 16: expected a policy 'orders'"));
}

// What remains of the last line is a policy only where an item has just ended.
TEST(policy_book, decision_70_notices_a_text_without_its_end) {
    std::string const text = "orders = max_attempts(3)\nsearch = constant(1s) max_attempts(2)\n";
    std::vector<std::string> taken; // the last line of each
    for (std::size_t length = 0; length != text.size(); ++length) {
        policy_book book(two_policies);
        std::string const half = text.substr(0, length);
        if (complaint_of<policy_syntax_error>([&] { return (book.reload(half), 0); }) == "none")
            taken.push_back(half.substr(half.rfind('\n') + 1));
        else
            EXPECT_EQ(attempts(book["orders"]), 5u);
    }
    EXPECT_THAT(taken, ElementsAre("search = constant(1s)", "search = constant(1s) ",
                                   "search = constant(1s) max_attempts(2)"));
}

TEST(policy_book, decision_70_leaves_operations_their_policies) {
    retry_policy kept;
    {
        policy_book book("a = constant(1s) no_jitter() max_attempts(5)");
        kept = book["a"];
        book.reload("a = constant(2s) no_jitter() max_attempts(2)");
        EXPECT_EQ(attempts(book["a"]), 2u);
    }
    EXPECT_EQ(to_string(kept), "name(\"a\") constant(value=1s) no_jitter() max_attempts(5)");
}

TEST(policy_book, decision_70_forgets_the_policies_that_nobody_has) {
    auto gate = std::make_shared<retry_budget>();
    std::weak_ptr<retry_budget> const seen = gate;
    policy_book book({{"a", retry_policy().gate(std::move(gate))}});
    {
        retry_policy const kept = book["a"];
        book.reload("a = celery");
        EXPECT_FALSE(seen.expired());
    }
    EXPECT_TRUE(seen.expired());
}

// Such a gate ends with the old policies.
TEST(policy_book, decision_70_may_be_reloaded_by_a_gate_that_ends) {
    struct reloading_gate final : retry_gate {
        explicit reloading_gate(policy_book& b)
            : book(b) {}
        ~reloading_gate() override { book.reload("orders = max_attempts(9)"); }
        policy_book& book;
    };
    policy_book book("orders = celery");
    std::vector<named_policy> with_gate;
    with_gate.push_back({"orders", retry_policy().gate(std::make_shared<reloading_gate>(book))});
    book.reload(std::move(with_gate));
    book.reload("orders = grpc");
    EXPECT_EQ(book["orders"].settings().max_attempts, 9u);
}

std::shared_ptr<rate_limit> limit_of(policy_book const& book, std::string_view name) {
    return std::dynamic_pointer_cast<rate_limit>(book[name].settings().gate);
}

constexpr std::string_view slow_orders =
    "orders = rate_limit(1, 10s) wait_when_refused()\nsearch = rate_limit(1, 1h)\n";
constexpr std::string_view fast_orders =
    "search = rate_limit(1, 1h)\norders = rate_limit(1, 1s) wait_when_refused()\n";

/// An operation that waits for the second time of a limit.
struct waiting_operation {
    explicit waiting_operation(std::shared_ptr<rate_limit> of)
        : limit(std::move(of)) {
        EXPECT_EQ(limit->admit(1, noon).until, noon);
        given = limit->admit(1, noon);
        EXPECT_TRUE(limit->watch(waiter, given));
    }
    ~waiting_operation() { limit->unwatch(waiter, given); }

    std::shared_ptr<rate_limit> limit;
    gate_waiter waiter{request_priority::normal};
    admission given = noon;
};

TEST(policy_book, decision_86_a_reload_keeps_a_rate_limit_and_gives_new_times) {
    policy_book book(slow_orders);
    auto const orders = limit_of(book, "orders"), search = limit_of(book, "search");
    ASSERT_TRUE(orders && search);
    EXPECT_NE(orders, search);
    waiting_operation other(search);
    {
        waiting_operation first(orders);
        EXPECT_EQ(first.given.until, noon + 10s);
        book.reload(fast_orders);
        EXPECT_TRUE(first.waiter.is_granted()) << "it asks again";
        EXPECT_EQ(orders->admit_again(first.given, 1, noon).until, noon + 1s);
    }
    EXPECT_EQ(limit_of(book, "orders"), orders);
    EXPECT_EQ(limit_of(book, "search"), search);
    EXPECT_EQ(orders->numbers(), (rate_limit_numbers{1, 1s}));
    EXPECT_FALSE(other.waiter.is_granted()) << "its rate is as before";
    EXPECT_EQ(to_string(book["orders"]),
              to_string(parse_policy("name(\"orders\") rate_limit(1, 1s) wait_when_refused()")));
}

TEST(policy_book, decision_86_a_reload_that_fails_changes_no_rate) {
    policy_book book(slow_orders);
    auto const orders = limit_of(book, "orders");
    waiting_operation const first(orders);
    std::string const good(fast_orders);
    for (std::string const& bad : {good + "x = rate_limit(0, 1s)\n", good + "x = rate_limit(1, 1s", good + "x",
                                   good + "orders = celery", std::string("orders = rate_limit(1, 1s)\n")})
        EXPECT_NE(refusal(book, bad), "none");
    std::vector<named_policy> twice = parse_policies(fast_orders);
    twice.push_back(twice.back());
    EXPECT_THROW(book.reload(twice), policy_syntax_error);
    EXPECT_EQ(limit_of(book, "orders"), orders);
    EXPECT_EQ(orders->numbers(), (rate_limit_numbers{1, 10s}));
    EXPECT_FALSE(first.waiter.is_granted());
    EXPECT_EQ(orders->admit_again(first.given, 1, noon).until, noon + 10s);
}

TEST(policy_book, decision_86_a_text_without_the_item_drops_the_gate) {
    policy_book book(slow_orders);
    auto const orders = limit_of(book, "orders");
    book.reload("orders = celery\nsearch = rate_limit(2, 1h)");
    EXPECT_EQ(book["orders"].settings().gate, nullptr);
    EXPECT_EQ(orders->numbers(), (rate_limit_numbers{1, 10s})) << "as those have it that run";
    book.reload(fast_orders);
    EXPECT_NE(limit_of(book, "orders"), nullptr);
    EXPECT_NE(limit_of(book, "orders"), orders) << "and a new one comes";
}

TEST(policy_book, decision_86_a_reload_keeps_no_gate_of_the_program) {
    auto const own = std::make_shared<rate_limit>(5, 1s);
    policy_book book({{"a", retry_policy().gate(own)}});
    book.reload("a = rate_limit(1, 1s)");
    auto const of_text = limit_of(book, "a");
    EXPECT_NE(of_text, own);
    EXPECT_EQ(own->numbers(), (rate_limit_numbers{5, 1s}));
    book.reload({{"a", retry_policy().gate(own)}});
    EXPECT_EQ(limit_of(book, "a"), own) << "the program chose this one";
    EXPECT_EQ(of_text->numbers(), (rate_limit_numbers{1, 1s}));
}

TEST(policy_book, a_reload_keeps_gates_whose_numbers_are_the_same) {
    policy_book book("a = concurrency_limit(fixed_limit(4))\nb = hedge_share(0.05)");
    auto const gate_of = [&](char const* name) { return book[name].settings().gate; };
    auto const a = gate_of("a"), b = gate_of("b");
    book.reload("a = concurrency_limit(fixed_limit(4)) max_attempts(5)\nb = hedge_share(0.05, 10) clamp()");
    EXPECT_EQ(gate_of("a"), a) << "with the attempts that it counts";
    EXPECT_EQ(gate_of("b"), b) << "with what it has earned";
    EXPECT_EQ(book["a"].settings().max_attempts, 5u);
    book.reload("a = concurrency_limit(fixed_limit(5))\nb = hedge_share(0.06)");
    EXPECT_NE(gate_of("a"), a);
    EXPECT_NE(gate_of("b"), b);
    EXPECT_EQ(to_string(book["a"]), to_string(parse_policy("concurrency_limit(fixed_limit(5))").name("a")));
    EXPECT_EQ(to_string(book["b"]), to_string(parse_policy("hedge_share(0.06)").name("b")));
    auto const own = std::make_shared<concurrency_limit<fixed_limit>>(fixed_limit(5));
    book.reload({{"a", retry_policy().gate(own)}, {"b", retry_policy()}});
    EXPECT_EQ(gate_of("a"), own) << "the program chose this one";
}

TEST(policy_book, decision_86_a_list_of_texts_keeps_its_rate_limits) {
    policy_book book(parse_policies(slow_orders));
    auto const orders = limit_of(book, "orders");
    book.reload(parse_policies(fast_orders));
    EXPECT_EQ(limit_of(book, "orders"), orders);
    EXPECT_EQ(orders->numbers(), (rate_limit_numbers{1, 1s}));
    std::vector<named_policy> same;
    book.for_each([&](std::string const& name, retry_policy const& policy) { same.push_back({name, policy}); });
    book.reload(same);
    EXPECT_EQ(limit_of(book, "orders"), orders);
}

TEST(policy_book, decision_86_a_reload_with_the_same_numbers_wakes_nobody) {
    policy_book book(slow_orders);
    waiting_operation const first(limit_of(book, "orders"));
    book.reload(slow_orders);
    EXPECT_EQ(limit_of(book, "orders"), first.limit);
    EXPECT_FALSE(first.waiter.is_granted());
}

TEST(policy_book, may_be_reloaded_while_its_policies_are_listed) {
    policy_book book(two_policies);
    std::vector<std::optional<std::uint64_t>> seen;
    book.for_each([&](std::string const&, retry_policy const& policy) {
        book.reload("search = max_attempts(2)\norders = max_attempts(3)");
        seen.push_back(attempts(policy));
    });
    EXPECT_THAT(seen, ElementsAre(5u, 7u));
    EXPECT_EQ(attempts(book["orders"]), 3u);
}

} // namespace
} // namespace asio_retry::test
