#include <asio_retry/policy_text.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

[[noreturn]] void report(std::string const& fault) {
    std::fprintf(stderr, "parse_policy: %s\n", fault.c_str());
    std::abort();
}

} // namespace

/// libFuzzer's entry: a text is refused with a place in it, or what is written of its policy is read as the
/// same.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text(reinterpret_cast<char const*>(data), size);
    std::string written;
    try {
        written = asio_retry::to_string(asio_retry::parse_policy(text));
    } catch (asio_retry::policy_syntax_error const& fault) {
        if (fault.position() > size)
            report("a place behind the text: " + std::to_string(fault.position()));
        return 0;
    }
    try {
        if (std::string const again = asio_retry::to_string(asio_retry::parse_policy(written));
            again != written)
            report(written + " is read as " + again);
    } catch (asio_retry::policy_syntax_error const& fault) {
        report(written + " is refused: " + fault.what());
    }
    return 0;
}
