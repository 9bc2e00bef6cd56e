#pragma once

#include "tool/terminal.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace asio_retry::lab {

/// Draws on standard error, if that is a terminal.
class progress_bar {
public:
    progress_bar() = default;
    progress_bar(progress_bar const&) = delete;
    progress_bar& operator=(progress_bar const&) = delete;
    ~progress_bar() {
        if (shown_ >= 0)
            std::fputs("\r\x1b[K", stderr);
    }

    void show(double share) {
        int const percent = static_cast<int>(share * 100);
        if (!is_terminal_ || percent == shown_)
            return;
        shown_ = percent;
        auto const filled = static_cast<std::size_t>(percent) * width_ / 100;
        std::fprintf(stderr, "\r[%s%s] %3d %%", std::string(filled, '#').c_str(),
                     std::string(width_ - filled, ' ').c_str(), percent);
    }

private:
    static constexpr std::size_t beside_it = 9; // brackets, number, and a column for the cursor

    bool is_terminal_ = tool::errors_are_on_a_terminal();
    std::size_t width_ = std::min<std::size_t>(tool::width_of_errors() - beside_it, 40);
    int shown_ = -1;
};

} // namespace asio_retry::lab
