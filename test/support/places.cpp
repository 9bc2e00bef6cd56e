#include "support/places.hpp"

std::string asio_retry::test::file_of_project(std::string const& name) {
    return ASIO_RETRY_PROJECT_DIR "/" + name;
}
