#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace asio_retry::test {

/// A program in the foreground. It is killed with this, or with the test that dies.
class child_process {
public:
    /// `arguments` begin with the program; what it says is added to the file `log`. Throws std::runtime_error.
    child_process(std::vector<std::string> arguments, std::filesystem::path const& log);

    child_process(child_process const&) = delete;
    child_process& operator=(child_process const&) = delete;
    ~child_process();

    pid_t id() const noexcept { return process_; }

    void send(int signal) const;

    bool is_running() const;

    /// Waits for its end: its exit status, or the negative of the signal that ended it.
    int wait();

private:
    pid_t process_;
};

} // namespace asio_retry::test
