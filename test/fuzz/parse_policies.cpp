#include <asio_retry/policy_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using asio_retry::named_policy;

[[noreturn]] void report(std::string const& fault) {
    std::fprintf(stderr, "parse_policies: %s\n", fault.c_str());
    std::abort();
}

std::string written(std::vector<named_policy> const& policies) {
    std::string text;
    for (named_policy const& each : policies)
        text.append(each.name).append(" = ").append(to_string(each.policy)).append("\n");
    return text;
}

/// A refusal names a line of the text, and a column that is no further than its end.
void check_place(asio_retry::policy_syntax_error const& fault, std::string_view text) {
    if (fault.position() > text.size())
        report("a place behind the text: " + std::to_string(fault.position()));
    std::string_view const before = text.substr(0, fault.position());
    auto const line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    if (fault.line() != line)
        report("line " + std::to_string(fault.line()) + " instead of " + std::to_string(line));
    std::size_t const begin = before.rfind('\n') + 1;
    if (fault.column() == 0 || fault.column() > fault.position() - begin + 1)
        report("column " + std::to_string(fault.column()));
}

} // namespace

/// libFuzzer's entry: a text is refused with a place in it, or what is written of its policies is read as the
/// same.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text(reinterpret_cast<char const*>(data), size);
    std::string lines;
    try {
        lines = written(asio_retry::parse_policies(text));
    } catch (asio_retry::policy_syntax_error const& fault) {
        check_place(fault, text);
        return 0;
    }
    try {
        if (std::string const again = written(asio_retry::parse_policies(lines)); again != lines)
            report(lines + " is read as " + again);
    } catch (asio_retry::policy_syntax_error const& fault) {
        report(lines + " is refused: " + fault.what());
    }
    return 0;
}
