#include "report.hpp"

#include <boost/version.hpp>

#include <thread>

namespace asio_retry::bench {

std::string toolchain() {
#if defined(__clang__)
    std::string const compiler =
        "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
    std::string const compiler = "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
    return compiler + ", Boost 1." + std::to_string(BOOST_VERSION / 100 % 1000) + ", " +
           std::to_string(std::thread::hardware_concurrency()) + " cores";
}

} // namespace asio_retry::bench
