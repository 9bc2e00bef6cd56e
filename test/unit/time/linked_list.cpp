#include <asio_retry/detail/policy/linked_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace asio_retry::detail {
namespace {

struct item : list_hook<item>, list_hook<class elsewhere> {
    bool is_in_list() const noexcept { return list_hook<item>::is_linked(); }
};
using items = linked_list<item>;

struct linked_list_test : testing::Test {
    std::vector<item*> in(items const& these) {
        std::vector<item*> found;
        these.for_each([&](item& one) { found.push_back(&one); });
        return found;
    }

    std::array<item, 4> all;
    items list;
};

TEST_F(linked_list_test, keeps_the_order_and_knows_what_comes_after) {
    EXPECT_TRUE(list.empty());
    for (item& one : all)
        list.push_back(one);
    EXPECT_FALSE(list.empty());
    EXPECT_TRUE(all[3].is_in_list());
    EXPECT_THAT(in(list), testing::ElementsAre(&all[0], &all[1], &all[2], &all[3]));
    EXPECT_EQ(&list.front(), &all[0]);
    EXPECT_EQ(list.after(all[0]), &all[1]);
    EXPECT_EQ(list.after(all[3]), nullptr);
}

TEST_F(linked_list_test, takes_one_before_all_others) {
    list.push_front(all[0]);
    list.push_front(all[1]);
    list.push_back(all[2]);
    list.push_front(all[3]);
    EXPECT_THAT(in(list), testing::ElementsAre(&all[3], &all[1], &all[0], &all[2]));
    items::erase(all[3]);
    EXPECT_EQ(&list.front(), &all[1]);
}

TEST_F(linked_list_test, forgets_from_both_ends_and_the_middle) {
    for (item& one : all)
        list.push_back(one);
    items::erase(all[2]);
    EXPECT_FALSE(all[2].is_in_list());
    EXPECT_THAT(in(list), testing::ElementsAre(&all[0], &all[1], &all[3]));
    items::erase(all[3]);
    list.push_back(all[2]);
    list.pop_front();
    EXPECT_THAT(in(list), testing::ElementsAre(&all[1], &all[2]));
    list.pop_front();
    list.pop_front();
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(all[1].is_in_list());
}

TEST_F(linked_list_test, takes_all_that_another_holds_behind_its_own) {
    items other;
    list.push_back(all[0]);
    list.append(other);
    EXPECT_THAT(in(list), testing::ElementsAre(&all[0])) << "nothing to take";
    other.push_back(all[1]);
    other.push_back(all[2]);
    list.append(other);
    EXPECT_TRUE(other.empty());
    other.push_back(all[3]);
    EXPECT_THAT(in(list), testing::ElementsAre(&all[0], &all[1], &all[2]));
    items moved(std::move(list));
    moved.append(other);
    EXPECT_THAT(in(moved), testing::ElementsAre(&all[0], &all[1], &all[2], &all[3]));
}

TEST_F(linked_list_test, lets_go_of_what_it_holds_when_it_is_destroyed) {
    {
        items short_lived;
        short_lived.push_back(all[0]);
        short_lived.push_back(all[1]);
    }
    EXPECT_FALSE(all[0].is_in_list());
    EXPECT_FALSE(all[1].is_in_list());
}

TEST_F(linked_list_test, a_second_tag_is_a_second_place) {
    linked_list<item, class elsewhere> other;
    list.push_back(all[0]);
    EXPECT_TRUE(all[0].is_in_list());
    other.push_back(all[0]);
    list.pop_front();
    EXPECT_EQ(&other.front(), &all[0]);
    EXPECT_FALSE(all[0].is_in_list());
}

} // namespace
} // namespace asio_retry::detail
