#pragma once

#include "support/program.hpp"
#include "tool/text_layout.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace asio_retry::tool {

/// Runs a line of a shell whose output is a terminal of that many columns.
inline outcome run_on_terminal(unsigned short columns, std::string const& line) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 24;
    int terminal = -1;
    pid_t const child = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (child < 0)
        throw std::runtime_error(std::string("there is no pseudo-terminal here, which this test needs: ") +
                                 std::strerror(errno) + "; mount -t devpts devpts /dev/pts makes them");
    if (child == 0) {
        for (char const* const name : {"COLUMNS", "NO_COLOR", "LC_ALL", "LC_CTYPE"})
            ::unsetenv(name);
        ::setenv("TERM", "xterm", 1);
        ::setenv("LANG", "C", 1);
        std::string const whole = "tool=" + program() + "; " + line;
        ::execl("/bin/sh", "sh", "-c", whole.c_str(), static_cast<char*>(nullptr));
        ::_exit(127);
    }
    outcome result{};
    char part[4096];
    for (;;) { // which ends with an error when nobody has the other end open
        ssize_t const size_read = ::read(terminal, part, sizeof part);
        if (size_read <= 0)
            break;
        result.output.append(part, static_cast<std::size_t>(size_read));
    }
    ::close(terminal);
    int status = 0;
    ::waitpid(child, &status, 0);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::erase(result.output, '\r');
    return result;
}

inline std::size_t longest_line(std::string const& text) {
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);)
        longest = std::max(longest, columns_of(line));
    return longest;
}

} // namespace asio_retry::tool
