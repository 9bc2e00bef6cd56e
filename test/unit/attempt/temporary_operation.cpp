#include <asio_retry/detail/attempt/operation_form.hpp>

#include <asio_retry/before_retry.hpp>
#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using detail::destroys_temporaries_twice;
using detail::is_destroyed_twice;
using detail::is_temporary;
using shared_text = std::shared_ptr<std::string>;

/// The type of what is given: a temporary, or a reference to a variable.
template <typename Given>
constexpr bool may_be_destroyed_twice(Given&&) {
    return is_temporary<Given>;
}

struct aggregate {
    shared_text held;
    int operator()() const { return 1; }
};

class with_constructor {
public:
    explicit with_constructor(shared_text const& given)
        : held_(given) {}
    int operator()() const { return 1; }

private:
    shared_text const held_; // not assignable, like a lambda
};

/// Has a lambda in its name, and is none.
template <typename F>
class with_lambda {
public:
    explicit with_lambda(F const& f)
        : f_(f) {}
    int operator()() const { return f_(); }

private:
    F f_;
};

TEST(temporary_operation, decision_73_is_a_lambda_or_an_aggregate_that_holds_objects) {
    shared_text const s = std::make_shared<std::string>("s");
    int const n = static_cast<int>(s.use_count());
    auto const named = [s] { return 1; };
    EXPECT_EQ(may_be_destroyed_twice([s] { return 1; }), destroys_temporaries_twice);
    EXPECT_EQ(may_be_destroyed_twice([s](auto&&, std::function<void()>) mutable noexcept -> int { return 1; }),
              destroys_temporaries_twice);
    EXPECT_EQ(may_be_destroyed_twice(aggregate{s}), destroys_temporaries_twice);
    EXPECT_FALSE(may_be_destroyed_twice([] { return 1; }));
    EXPECT_FALSE(may_be_destroyed_twice([&s] { return s; }));
    EXPECT_FALSE(may_be_destroyed_twice([n] { return n; }));
    EXPECT_FALSE(may_be_destroyed_twice(named));
    EXPECT_FALSE(may_be_destroyed_twice(with_constructor(s)));
    EXPECT_FALSE(may_be_destroyed_twice(with_lambda(named)));
    EXPECT_FALSE(may_be_destroyed_twice(std::function<int()>(named)));
    EXPECT_FALSE(may_be_destroyed_twice(s));
}

TEST(temporary_operation, decision_73_a_wrapper_of_a_temporary_is_one_too) {
    shared_text const s = std::make_shared<std::string>("s");
    auto const never = [](int) { return false; };
    auto const named = [s] { return 1; };
    auto const judge = [s](int) { return s->empty(); };
    retry_report report;
    EXPECT_EQ(may_be_destroyed_twice(fail_if([s] { return 1; }, never)), destroys_temporaries_twice);
    EXPECT_EQ(may_be_destroyed_twice(fail_if(named, [s](int) { return s->empty(); })),
              destroys_temporaries_twice);
    EXPECT_EQ(may_be_destroyed_twice(fail_if([s] { return 1; }, never).or_error()), destroys_temporaries_twice);
    EXPECT_EQ(may_be_destroyed_twice(with_report(fail_if([s] { return 1; }, never), report)),
              destroys_temporaries_twice);
    EXPECT_EQ(may_be_destroyed_twice(before_retry(named, [s] {})), destroys_temporaries_twice);
    EXPECT_FALSE(may_be_destroyed_twice(fail_if(named, judge)));
    EXPECT_FALSE(may_be_destroyed_twice(fail_if(named, judge).or_error()));
    EXPECT_FALSE(may_be_destroyed_twice(with_report(fail_if(named, judge), report)));

    auto const wrapper = fail_if([s] { return 1; }, never);
    EXPECT_FALSE(may_be_destroyed_twice(wrapper));
    EXPECT_FALSE(may_be_destroyed_twice(wrapper.or_error()));
    EXPECT_FALSE(may_be_destroyed_twice(with_report(wrapper, report)));
}

TEST(temporary_operation, decision_73_is_destroyed_twice_only_where_it_is_awaited) {
    shared_text const s = std::make_shared<std::string>("s");
    auto const named = [s] { return 1; };
    auto const on_done = [s](std::exception_ptr, int) {};
    using lambda = std::remove_const_t<decltype(named)>;
    using no_token = detail::default_token;
    constexpr bool twice = destroys_temporaries_twice;
    EXPECT_EQ((is_destroyed_twice<lambda, no_token>), twice);
    EXPECT_EQ((is_destroyed_twice<lambda, asio::use_awaitable_t<> const&>), twice);
    EXPECT_EQ((is_destroyed_twice<lambda, asio::as_tuple_t<asio::use_awaitable_t<>>>), twice);
    EXPECT_EQ((is_destroyed_twice<lambda, asio::redirect_error_t<asio::use_awaitable_t<>>>), twice);
    EXPECT_EQ((is_destroyed_twice<lambda, asio::deferred_t const&>), twice);
    EXPECT_FALSE((is_destroyed_twice<lambda const&, no_token>));
    EXPECT_FALSE((is_destroyed_twice<lambda, asio::detached_t const&>));
    EXPECT_FALSE((is_destroyed_twice<lambda, asio::use_future_t<> const&>));
    EXPECT_FALSE((is_destroyed_twice<lambda, decltype(on_done)&>));
}

} // namespace
} // namespace asio_retry::test
