#pragma once

#include <cstdio>
#include <string>

#include <unistd.h>

namespace asio_retry::tool {

/// On standard error, if that is a terminal.
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
        auto const filled = static_cast<std::size_t>(percent) * width / 100;
        std::fprintf(stderr, "\r[%s%s] %3d %%", std::string(filled, '#').c_str(),
                     std::string(width - filled, ' ').c_str(), percent);
    }

private:
    static constexpr std::size_t width = 40;
    bool is_terminal_ = isatty(STDERR_FILENO) != 0;
    int shown_ = -1;
};

} // namespace asio_retry::tool
