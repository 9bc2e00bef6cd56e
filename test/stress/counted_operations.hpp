#pragma once

#include "stress/operations_of_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace asio_retry::test {

/// Operations each of which completes once.
class counted_operations : public operations_of_threads {
public:
    void expect_to_complete(int operations) {
        run(operations, 50);
        EXPECT_EQ(completed_, operations);
        EXPECT_EQ(pending(), 0u);
    }

protected:
    ~counted_operations() = default;

    void complete_one() {
        ++completed_;
        start_next();
    }

private:
    std::atomic<int> completed_ = 0;
};

} // namespace asio_retry::test
