// Everything that promises a time, when the program stands still.
#include "support/late_promises.hpp"

#include <asio_retry/virtual_time.hpp>

#include <gmock/gmock.h>

namespace asio_retry::test {
namespace {

using namespace late_promises;

/// Who begins, and when. Without a length it does not stand still.
beginnings play(promise const& one, duration length) {
    asio::io_context io;
    virtual_time time(io);
    place here{io, [&] { return time.now(); }};
    one.arrange(here);
    time.advance(1500ms);
    time.jump(length);
    time.advance(1min);
    beginnings begun = std::move(here.begun);
    here.scope->cancel();
    here.kept.clear();
    time.run();
    return begun;
}

class late_promise : public testing::TestWithParam<promise> {};

TEST_P(late_promise, decision_77_is_kept_as_if_it_were_asked_for_now) {
    beginnings const control = play(GetParam(), 0s);
    GetParam().holds(control);
    for (duration const length : {duration(1s), duration(1h)}) {
        beginnings expected = GetParam().late(control, {1500ms, 1500ms + length});
        std::ranges::sort(expected);
        beginnings const begun = play(GetParam(), length);
        GetParam().holds(begun);
        ASSERT_EQ(begun.size(), control.size());
        for (std::size_t i = 0; i != begun.size(); ++i)
            EXPECT_EQ(begun[i].at, expected[i].at) << i << ", after a stop of " << length / 1s << " s";
    }
}

INSTANTIATE_TEST_SUITE_P(all, late_promise, testing::ValuesIn(all()), [](auto const& one) {
    std::string name = one.param.name;
    std::ranges::replace_if(name, [](char c) { return c == ' ' || c == '-'; }, '_');
    return name;
});

} // namespace
} // namespace asio_retry::test
