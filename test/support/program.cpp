#include "support/program.hpp"

std::string const& asio_retry::tool::program() {
    static std::string const path = ASIO_RETRY_PROGRAM;
    return path;
}
