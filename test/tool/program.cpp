#include "program.hpp"

std::string const& asio_retry::tool::program() {
    static std::string const path = ASIO_RETRY_TOOL;
    return path;
}
