#pragma once

#include "support/csv.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>

namespace asio_retry::test {

/// Plays the cases of golden data. Each case has a `Made` of its own, made of `options(row)` in its first step;
/// `check(made, row)` does what a row says and compares.
template <typename Made, typename Options, typename Check>
void play_traces(std::string const& file, std::size_t rows, Options options, Check check) {
    auto const all = read_csv("traffic/" + file);
    ASSERT_EQ(all.size(), rows);
    std::optional<Made> made;
    std::string of_case;
    for (csv_row const& row : all) {
        if (row.at("case") != of_case)
            made.emplace(options(row));
        of_case = row.at("case");
        SCOPED_TRACE("case " + of_case + ", step " + row.at("step"));
        check(*made, row);
        if (testing::Test::HasFatalFailure())
            return;
    }
}

} // namespace asio_retry::test
