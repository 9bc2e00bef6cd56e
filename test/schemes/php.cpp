#include "schemes/scheme.hpp"

#include <asio_retry/profiles.hpp>

#include <exception>
#include <system_error>
#include <type_traits>

namespace asio_retry::test {
namespace {

using std::chrono::milliseconds;
using testing::Each;

using fraction_of_ms = std::chrono::duration<double, std::milli>;
using one_delay = retry_policy (*)(milliseconds, std::int64_t);
static_assert(!std::is_invocable_v<one_delay, fraction_of_ms, int>,
              "a fraction of a millisecond, which the package cuts off, is refused by the compiler");
static_assert(std::is_invocable_v<one_delay, milliseconds, int>);

/// The ceiling as the package prints it: milliseconds with 17 digits, grown in floating point.
void expect_ms(duration ours, double published_ms) {
    double const ns = published_ms * 1e6;
    EXPECT_NEAR(static_cast<double>(ours.count()), ns, 0.5 + 1e-13 * ns);
}

bool is_whole(std::string const& cell) {
    return cell.find('.') == std::string::npos;
}

// Arguments below 1 are raised to 1 there, and fractions of a millisecond cut off: both are refused here. The
// delays of the raised arguments are compared all the same.
TEST(scheme_D3, every_published_exponential_row) {
    std::size_t as_given = 0, raised = 0, cut = 0, compared = 0;
    for (csv_row const& row : read_csv("vkartaviy_exponential_grid.csv")) {
        milliseconds const initial(whole(row, "initial")), maximum(whole(row, "max"));
        double const multiplier = number(row, "multiplier");
        if (!is_whole(row.at("initial_arg"))) {
            EXPECT_EQ(whole(row, "initial_arg"), initial.count());
            ++cut;
        } else if (number(row, "initial_arg") < 1 || number(row, "multiplier_arg") < 1 ||
                   number(row, "max_arg") < 1) {
            EXPECT_TRUE(is_refused([&] {
                return profiles::php_retry(milliseconds(whole(row, "initial_arg")),
                                           number(row, "multiplier_arg"), milliseconds(whole(row, "max_arg")));
            }));
            ++raised;
        } else {
            ++as_given;
        }
        retry_policy const policy = profiles::php_retry(initial, multiplier, maximum);
        auto const step = static_cast<std::uint64_t>(whole(row, "step"));
        expect_ms(range_of(policy, step).least, number(row, "slept_ms"));
        expect_ms(range_of(policy, step).greatest, number(row, "slept_ms"));
        expect_ms(range_of(policy, step + 1).least,
                  std::min(number(row, "stored_interval_after_ms"), static_cast<double>(maximum.count())));
        ++compared;
    }
    EXPECT_EQ(compared, 60u);
    EXPECT_EQ(as_given, 18u);
    EXPECT_EQ(raised, 28u);
    EXPECT_EQ(cut, 14u);
}

// There is no grid of the random form: a number in [1, multiplier] times the delay above, the maximum applied
// before.
TEST(scheme_D4, the_random_form_is_the_formula_of_the_package) {
    for (double const multiplier : {1., 1.2, 2., 3., 10.})
        for (std::uint64_t failures = 1; failures <= 20; ++failures) {
            auto const exact = range_of(profiles::php_retry(100ms, multiplier), failures).least;
            retry_policy const policy = profiles::php_retry_random(100ms, multiplier);
            for (double const u : {0., 0.25, 0.5, 1.})
                EXPECT_NEAR(static_cast<double>(fraction_at(policy, failures, u).count()),
                            static_cast<double>(exact.count()) * (1 + u * (multiplier - 1)), 1);
        }
}

TEST(scheme_D4, the_published_form_passes_the_maximum_and_ours_does_not) {
    retry_policy const published = profiles::php_retry_random();
    retry_policy const ours = published.jitter(multiplicative_jitter(1, 2));
    EXPECT_EQ(range_of(published, 20).greatest, 60s);
    EXPECT_EQ(range_of(ours, 20).greatest, 30s);
    EXPECT_TRUE(equally_likely(draws_of(published, 20, 100, 100'000)));
}

TEST(scheme_D5, every_published_linear_fixed_and_default_row) {
    std::size_t defaults = 0, fixed = 0, raised = 0, compared = 0;
    for (csv_row const& row : read_csv("vkartaviy_linear_fixed_grid.csv")) {
        auto const step = static_cast<std::uint64_t>(whole(row, "step"));
        duration const slept = milliseconds(whole(row, "slept_ms"));
        if (row.at("policy") == "exponential_default") {
            EXPECT_EQ(range_of(profiles::php_retry(), step).least, slept);
            ++defaults;
            continue;
        }
        std::string const& initial_arg = row.at("initial_arg");
        if (row.at("policy") == "fixed") {
            // null stands for the default; 1.9 is cut to 1 there and does not compile here.
            retry_policy const policy = initial_arg == "null"
                                            ? profiles::php_retry_fixed()
                                            : profiles::php_retry_fixed(milliseconds(std::stoll(initial_arg)));
            EXPECT_EQ(range_of(policy, step).least, slept);
            ++fixed;
            continue;
        }
        milliseconds const initial(whole(row, "initial_arg")), delta(whole(row, "delta_arg")),
            maximum(whole(row, "max_arg"));
        if (initial < 1ms || delta < 1ms || maximum < 1ms) {
            EXPECT_TRUE(is_refused([&] { return profiles::php_retry_linear(initial, delta, maximum); }));
            ++raised;
        }
        milliseconds const first = std::max(initial, milliseconds(1)),
                           last = std::max(maximum, milliseconds(1));
        EXPECT_EQ(
            range_of(profiles::php_retry_linear(first, std::max(delta, milliseconds(1)), last), step).least,
            slept);
        ++compared;
    }
    EXPECT_EQ(defaults, 12u);
    EXPECT_EQ(fixed, 3u);
    EXPECT_EQ(compared, 45u);
    EXPECT_EQ(raised, 27u);
}

TEST(scheme_D5, uniform_random_draws_whole_milliseconds) {
    retry_policy const policy = profiles::php_retry_uniform();
    EXPECT_EQ(range_of(policy, 1).least, 500ms);
    EXPECT_EQ(range_of(policy, 7).greatest, 1500ms);
    for (duration const wait : play(policy.max_attempts(1'000), always).waits)
        EXPECT_EQ(wait % 1ms, 0ms);
    EXPECT_TRUE(equally_likely(draws_of(policy, 1, 1'001, 100'100)));
}

TEST(scheme_D5, uniform_random_with_one_delay_is_that_delay) {
    EXPECT_THAT(play(profiles::php_retry_uniform(7ms, 7ms), always).waits, Each(duration(7ms)));
    EXPECT_THROW((void)profiles::php_retry_uniform(2ms, 1ms), std::invalid_argument);
    EXPECT_THROW((void)profiles::php_retry_uniform(0ms, 1ms), std::invalid_argument);
}

TEST(scheme_D5, none_waits_for_nothing) {
    EXPECT_THAT(play(profiles::php_retry_fixed().backoff(constant(0s)), always).waits, Each(duration(0s)));
}

struct transport_error : std::runtime_error {
    using runtime_error::runtime_error;
};
struct connection_lost : transport_error {
    using transport_error::transport_error;
};

/// A list of error types, of which subtypes are members too.
template <typename... Types>
auto is_any_of() {
    return [](std::exception_ptr const& thrown) {
        auto const is = [&]<typename Type>(std::type_identity<Type>) {
            try {
                std::rethrow_exception(thrown);
            } catch (Type const&) {
                return true;
            } catch (...) {
                return false;
            }
        };
        return (is(std::type_identity<Types>()) || ...);
    };
}

template <typename Exception>
retry_action outcome_of(retry_policy const& policy, Exception const& thrown) {
    random source(1);
    retry_machine machine(policy);
    machine.start();
    return machine.on_failure(verdict::failure(std::make_exception_ptr(thrown)), {}, source);
}

TEST(scheme_D1, a_list_of_retryable_types_matches_subtypes) {
    auto const policy = profiles::php_retry().retry_if(is_any_of<std::system_error, transport_error>());
    EXPECT_EQ(outcome_of(policy, connection_lost("x")).what, retry_action::kind::wait);
    EXPECT_EQ(outcome_of(policy, transport_error("x")).what, retry_action::kind::wait);
    EXPECT_EQ(outcome_of(policy, std::system_error(std::error_code())).what, retry_action::kind::wait);
    retry_action const other = outcome_of(policy, std::runtime_error("x"));
    EXPECT_EQ(other.what, retry_action::kind::complete);
    EXPECT_EQ(other.reason, stop_reason::not_retryable);
}

TEST(scheme_D1, the_limit_of_3_attempts_includes_the_first_call) {
    for (retry_policy const& policy :
         {profiles::php_retry(), profiles::php_retry_random(), profiles::php_retry_linear(),
          profiles::php_retry_fixed(), profiles::php_retry_uniform()})
        EXPECT_EQ(play(policy, always).attempts, 3u);
}

TEST(scheme_D2, always_never_and_while_time_is_left) {
    retry_policy const policy = profiles::php_retry_fixed(100ms).unlimited_attempts();
    EXPECT_EQ(play(policy, 10'000).attempts, 10'001u);
    EXPECT_EQ(play(policy.retry_if([](error_code) { return false; }), always).attempts, 1u);
    played const limited = play(policy.max_elapsed(1000ms), always);
    EXPECT_EQ(limited.reason, stop_reason::elapsed);
    EXPECT_EQ(limited.attempts, 11u) << "the wait that ends at the limit is the last";
    EXPECT_EQ(limited.elapsed, 1000ms);
}

TEST(scheme_D6, x_calls_have_x_minus_1_waits_and_the_last_error_comes_back_unchanged) {
    for (std::int64_t calls = 1; calls <= 20; ++calls) {
        played const result = play(profiles::php_retry().max_attempts(calls), always);
        EXPECT_EQ(result.attempts, static_cast<std::uint64_t>(calls));
        EXPECT_EQ(result.waits.size(), static_cast<std::size_t>(calls - 1));
        EXPECT_EQ(result.reason, stop_reason::attempts);
        EXPECT_EQ(result.replacement, error_code());
    }
}

TEST(scheme_D6, a_throwing_policy_ends_the_retry_with_that_exception) {
    auto const broken = [](std::exception_ptr const&) -> bool { throw transport_error("policy"); };
    retry_action const action =
        outcome_of(profiles::php_retry().retry_if(broken), std::runtime_error("operation"));
    EXPECT_EQ(action.what, retry_action::kind::complete);
    ASSERT_TRUE(action.thrown);
    EXPECT_THROW(std::rethrow_exception(action.thrown), transport_error);
}

TEST(scheme_D7, the_cloud_client_adds_up_to_a_second_and_stops_at_60_seconds) {
    retry_policy const policy = profiles::google_cloud_php(10);
    for (std::uint64_t retry = 0; retry != 10; ++retry)
        for (std::int64_t const drawn : {0, 1, 499'999, 1'000'000}) {
            auto const published =
                std::min<std::int64_t>(drawn + (std::int64_t(1'000'000) << retry), 60'000'000);
            auto const [least, greatest] = range_of(policy, retry + 1);
            EXPECT_EQ(greatest - least, 1s);
            EXPECT_EQ(std::min(least + drawn * 1us, policy.settings().jitter.cap()), published * 1us);
        }
    EXPECT_EQ(policy.settings().jitter.unit(), 1us);
    EXPECT_TRUE(equally_likely(draws_of(policy, 6, 100, 100'000)));
}

TEST(scheme_D7, three_retries_come_on_top_of_the_first_call) {
    EXPECT_EQ(play(profiles::google_cloud_php(), always).attempts, 4u);
}

} // namespace
} // namespace asio_retry::test
