#include "combinations/story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace asio_retry::test {

retry_policy story::policy() {
    return retry_policy()
        .max_attempts(3)
        .backoff([this](std::uint64_t) {
            see("backoff");
            return delay;
        })
        .jitter([this](backoff_step const& step, random&) {
            see("jitter");
            return step.ceiling;
        })
        .retry_if([this](error_code const&) {
            see("retry_if");
            return true;
        })
        .when(
            [this](error_code const&) {
                see("when");
                return false;
            },
            constant(1h))
        .on_retry([this](retry_event const&) { see("on_retry"); })
        .on_give_up([this](retry_event const&) { see("on_give_up"); });
}

void story::expect_called_on(int number) const {
    std::lock_guard const lock(mutex_);
    for (auto const& [what, numbers] : seen_)
        EXPECT_THAT(numbers, testing::Each(number)) << what;
}

duration story::expect_called(form_facts const& form, int number, bool handler_is_seen) const {
    std::uint64_t const failed = std::min<std::uint64_t>(failures_, 3);
    std::uint64_t const attempts = std::min<std::uint64_t>(failures_ + 1, 3);
    std::uint64_t const retries = attempts - 1;
    std::map<std::string, std::size_t> expected{{"attempt", retries},
                                                {"step", form.has_steps ? attempts : 0},
                                                {"fail_if", form.is_judged ? attempts : 0},
                                                {"retry_if", form.is_judged ? 0 : failed},
                                                {"when", retries},
                                                {"backoff", retries},
                                                {"jitter", retries},
                                                {"on_retry", retries},
                                                {"own on_retry", form.is_hooked ? retries : 0},
                                                {"on_give_up", failed == 3},
                                                {"own on_end", form.is_hooked},
                                                {"handler", handler_is_seen}};
    std::erase_if(expected, [](auto const& each) { return each.second == 0; });
    expect_called_on(number);
    std::map<std::string, std::size_t> counted;
    {
        std::lock_guard const lock(mutex_);
        for (auto const& [what, numbers] : seen_)
            counted[what] = numbers.size();
    }
    EXPECT_EQ(counted, expected);
    return retries * delay;
}

void story::expect_result(form_facts const& form) const {
    auto const all = results();
    ASSERT_EQ(all.size(), 1u);
    bool const fails = failures_ >= 3 && !form.is_judged;
    EXPECT_EQ(all[0].error, fails ? refused() : error_code());
    if (form.has_value && !fails) {
        EXPECT_EQ(all[0].value, static_cast<int>(std::min<std::uint64_t>(failures_ + 1, 3)));
    }
}

} // namespace asio_retry::test
