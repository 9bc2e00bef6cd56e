#include "schemes/scheme.hpp"
#include "support/matches.hpp"
#include "support/places.hpp"

#include <asio_retry/profiles.hpp>

#include <fstream>

namespace asio_retry::test {
namespace {

struct trace {
    std::string title;
    std::uint64_t failures = 0;
    std::vector<duration> sleeps;
    std::uint64_t attempts = 0;
    duration slept{};
    bool connected = false;
};

/// Each begins with a title, has a line per attempt and ends with a summary.
std::vector<trace> published_traces() {
    std::ifstream file(test::file_of_project("test/golden/apue_connect_retry_trace.txt"));
    EXPECT_TRUE(file);
    std::vector<trace> traces;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("# "))
            traces.emplace_back().title = line;
        if (traces.empty()) {
            ADD_FAILURE() << "before the first title: " << line;
            continue;
        }
        for (auto const& end : all_matches(line, "^return=(-?\\d+) attempts=(\\d+) total_sleep=(\\d+)$")) {
            traces.back().connected = std::stoi(end[1]) >= 0;
            traces.back().attempts = std::stoul(end[2]);
            traces.back().slept = std::chrono::seconds(std::stoi(end[3]));
        }
        traces.back().failures += all_matches(line, "^socket.*=-1 ").size();
        for (auto const& sleep : all_matches(line, "close\\(\\d\\)=0;sleep\\((\\d+)\\)$"))
            traces.back().sleeps.push_back(std::chrono::seconds(std::stoi(sleep[1])));
    }
    return traces;
}

// The published loop sleeps after its last failure too.
TEST(scheme_C6, every_published_trace_but_for_its_last_sleep) {
    std::size_t compared = 0, given_up = 0;
    for (trace t : published_traces()) {
        played const result = play(profiles::unix_connect(), t.failures);
        EXPECT_EQ(result.attempts, t.attempts) << t.title;
        EXPECT_EQ(result.reason == stop_reason::succeeded, t.connected) << t.title;
        ASSERT_EQ(t.sleeps.size(), t.failures) << t.title;
        if (!t.connected) {
            t.slept -= t.sleeps.back();
            t.sleeps.pop_back();
            ++given_up;
        }
        EXPECT_EQ(result.waits, t.sleeps) << t.title;
        EXPECT_EQ(result.elapsed, t.slept) << t.title;
        ++compared;
    }
    EXPECT_EQ(compared, 6u);
    EXPECT_EQ(given_up, 2u);
}

TEST(scheme_C6, the_listing_of_the_book_makes_an_eighth_attempt_after_64_seconds) {
    played const result = play(profiles::unix_connect(8), always);
    EXPECT_EQ(result.waits, (std::vector<duration>{1s, 2s, 4s, 8s, 16s, 32s, 64s}));
    EXPECT_EQ(result.attempts, 8u);
}

} // namespace
} // namespace asio_retry::test
