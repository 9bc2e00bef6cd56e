#pragma once

#include "child_process.hpp"

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace asio_retry::test {

/// On loopback, free a moment ago.
using free_ports = std::array<unsigned short, 5>;

/// An nginx in a folder of its own, in the foreground. It is killed with this, or with the test that dies.
class nginx_process {
public:
    /// `servers` writes what is in the block `http` of the configuration: all that
    /// listens, the first port among it.
    /// Returns when nginx answers; throws std::runtime_error, with what it said, if it will not run.
    nginx_process(std::string const& program, std::function<std::string(free_ports const&)> const& servers);

    nginx_process(nginx_process const&) = delete;
    nginx_process& operator=(nginx_process const&) = delete;
    ~nginx_process();

    free_ports const& ports() const noexcept { return ports_; }

private:
    bool answers() const;
    std::string log() const;

    std::filesystem::path folder_;
    free_ports ports_{};
    std::optional<child_process> process_;
};

} // namespace asio_retry::test
