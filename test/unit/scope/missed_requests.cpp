#include <asio_retry/detail/scope/scope_state.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <new>
#include <utility>
#include <vector>

// Who could not be told, for want of memory, is told by the next request.

namespace asio_retry::detail {
namespace {

/// Writes down what it is asked for.
class noting_member final : public scope_member {
public:
    explicit noting_member(scope_state& in)
        : in_(in) {
        in_.link(*this);
    }
    ~noting_member() { in_.unlink(*this); }

    bool cannot_be_told = false;
    std::vector<scope_request> heard;

private:
    void on_scope_notice() override {
        if (cannot_be_told)
            throw std::bad_alloc();
        heard.push_back(in_.take_request(*this).what);
    }
    void on_notice_failed() override { in_.miss_request(*this); }

    scope_state& in_;
};

using requests = std::vector<scope_request>;

class missed_requests : public testing::Test {
protected:
    scope_handle make_scope(scope_handle const& parent = {}) {
        return scope_state::create(io.get_executor(), parent, time_point::max());
    }

    boost::asio::io_context io;
};

TEST_F(missed_requests, decision_39_are_told_again_from_above) {
    auto const top = make_scope(), middle = make_scope(top), bottom = make_scope(middle);
    noting_member above(*top), below(*bottom);
    below.cannot_be_told = true;
    EXPECT_THROW(top->request(scope_request::cancel), std::bad_alloc);
    below.cannot_be_told = false;
    top->request(scope_request::cancel);
    EXPECT_EQ(below.heard, requests{scope_request::cancel});
    top->request(scope_request::cancel); // and no more
    EXPECT_EQ(below.heard.size(), 1u);
}

/// Two threads ask at once, in one order of many, and have no memory to tell.
class crossed_requests : public missed_requests {
protected:
    struct first_member final : scope_member {
        explicit first_member(crossed_requests& all)
            : test(all) {}

        void on_scope_notice() override {
            if (!std::exchange(was_told, true))
                throw std::bad_alloc();
            heard.push_back(test.scope->take_request(*this).what);
        }
        /// Before it has missed what it could not be told.
        void on_notice_failed() override {
            test.scope->link(test.second);
            EXPECT_THROW(test.scope->request(scope_request::cancel), std::bad_alloc);
        }

        crossed_requests& test;
        bool was_told = false;
        requests heard;
    };

    struct second_member final : scope_member {
        explicit second_member(crossed_requests& all)
            : test(all) {}

        void on_scope_notice() override {
            if (std::exchange(was_told, true))
                return heard.push_back(test.scope->take_request(*this).what);
            test.scope->miss_request(test.first);
            throw std::bad_alloc();
        }
        void on_notice_failed() override { test.scope->miss_request(*this); }

        crossed_requests& test;
        bool was_told = false;
        requests heard;
    };

    scope_handle scope = make_scope();
    first_member first{*this};
    second_member second{*this};
};

TEST_F(crossed_requests, decision_39_who_missed_less_is_told_of_all_though_another_missed_that) {
    scope->link(first);
    EXPECT_THROW(scope->request(scope_request::retry_now), std::bad_alloc);
    EXPECT_EQ(first.heard, requests{scope_request::cancel}) << "whose caller relies on it";
    scope->request(scope_request::cancel);
    EXPECT_EQ(second.heard, requests{scope_request::cancel}) << "whose caller knows";
    scope->unlink(first);
    scope->unlink(second);
}

} // namespace
} // namespace asio_retry::detail
