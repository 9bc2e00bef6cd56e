#include <asio_retry/detail/scope/scope_state.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace asio_retry::detail {
namespace {

struct counted {
    int owners = 0;
    bool is_gone = false;

    friend void add_owner(counted* one) noexcept { ++one->owners; }
    friend void remove_owner(counted* one) noexcept { one->is_gone = --one->owners == 0; }
};
using handle = counted_handle<counted>;

TEST(counted_handle, counts_its_copies) {
    counted one;
    {
        handle const first(&one);
        EXPECT_EQ(one.owners, 1);
        handle second = first;
        EXPECT_EQ(one.owners, 2);
        handle const third = std::move(second);
        EXPECT_EQ(one.owners, 2);
        EXPECT_FALSE(second);
        EXPECT_EQ(third.get(), &one);
        EXPECT_EQ(&*third, &one);
        EXPECT_FALSE(one.is_gone);
    }
    EXPECT_TRUE(one.is_gone);
}

TEST(counted_handle, lets_go_when_it_is_assigned_or_reset) {
    counted one;
    counted other;
    handle a(&one);
    handle b(&other);
    a = b;
    EXPECT_TRUE(one.is_gone);
    EXPECT_EQ(other.owners, 2);
    a = std::move(b);
    EXPECT_EQ(other.owners, 1);
    EXPECT_TRUE(a);
    a.reset();
    EXPECT_TRUE(other.is_gone);
    a.reset();
    EXPECT_EQ(other.owners, 0) << "of nothing there is no owner";
}

TEST(counted_handle, detaches_what_stays_counted) {
    counted one;
    {
        handle a(&one);
        EXPECT_EQ(a.detach(), &one);
    }
    EXPECT_EQ(one.owners, 1);
}

} // namespace
} // namespace asio_retry::detail
