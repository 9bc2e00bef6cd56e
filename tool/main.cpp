// asio-retry: explains policies, and lists the known ones.
#include "program.hpp"

int main(int argc, char** argv) {
    return asio_retry::tool::run_asio_retry(argc, argv);
}
