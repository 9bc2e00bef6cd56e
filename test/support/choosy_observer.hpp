#pragma once

#include <asio_retry/retry_observer.hpp>

#include <cstdint>
#include <vector>

namespace asio_retry::test {

/// Wants all operations or none, and writes down which it was asked about and what it heard.
struct choosy_observer final : retry_observer {
    bool wants(std::uint64_t operation) noexcept override {
        asked.push_back(operation);
        return wanted;
    }
    void on_event(observation const& event) noexcept override { heard.push_back(event.what); }

    bool wanted = false;
    std::vector<std::uint64_t> asked;
    std::vector<observation::kind> heard;
};

} // namespace asio_retry::test
