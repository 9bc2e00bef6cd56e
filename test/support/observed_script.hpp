#pragma once

#include "support/machine_script.hpp"
#include "support/recording_observer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {

/// A script of a policy with an observer.
struct observed_script {
    explicit observed_script(retry_policy const& policy = endless_every_100ms())
        : script(std::in_place, policy.observe(observer)) {}
    machine_script* operator->() { return &*script; }

    std::vector<std::string> told() {
        EXPECT_EQ(observer->fault, "");
        return observer->told();
    }
    observation const& last() const { return observer->events.back(); }
    /// The last event of that kind.
    observation const& last(observation::kind what) const {
        auto const& events = observer->events;
        auto const found =
            std::find_if(events.rbegin(), events.rend(), [&](auto const& each) { return each.what == what; });
        if (found == events.rend())
            throw std::out_of_range("there is no such event");
        return *found;
    }

    std::shared_ptr<recording_observer> observer = std::make_shared<recording_observer>();
    std::optional<machine_script> script;
};

} // namespace asio_retry::test
