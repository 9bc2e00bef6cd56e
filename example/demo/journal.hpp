#pragma once

#include <chrono>
#include <iomanip>
#include <iostream>

namespace demo {

/// Writes lines to standard output, each with the time since the start, each flushed so that a pipe sees it at
/// once.
class journal {
public:
    template <typename... Parts>
    void line(Parts const&... parts) const {
        std::chrono::duration<double> const since_start = std::chrono::steady_clock::now() - start_;
        std::cout << std::fixed << std::setprecision(3) << std::setw(7) << since_start.count() << " s  ";
        (std::cout << ... << parts) << std::endl;
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace demo
