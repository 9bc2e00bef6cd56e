#include "support/machine_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/// libFuzzer's entry: bytes are a policy and the events of an operation.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    asio_retry::test::machine_bytes bytes({data, size});
    if (std::string const& fault = bytes.play(); !fault.empty()) {
        std::fprintf(stderr, "retry_machine: %s\n", fault.c_str());
        std::abort();
    }
    return 0;
}
