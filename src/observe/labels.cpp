#include "observe/exposition.hpp"
#include "policy/field_text.hpp"
#include "text/shown_text.hpp"

#include <asio_retry/detail/policy/refuse.hpp>

#include <algorithm>
#include <vector>

// Labels come from operators, and may be any text.

namespace asio_retry::detail {
namespace {

constexpr bool is_letter(char c) noexcept {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
}

} // namespace

std::size_t length_of_first_character(std::string_view text) noexcept {
    auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    auto const is_tail = [&](std::size_t i, unsigned least = 0x80, unsigned greatest = 0xbf) {
        return least <= byte(i) && byte(i) <= greatest;
    };
    unsigned const first = byte(0);
    if (first < 0x80)
        return 1;
    if (0xc2 <= first && first <= 0xdf)
        return is_tail(1) ? 2 : 0;
    if (0xe0 <= first && first <= 0xef) // no form that is too long, and no surrogate
        return is_tail(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && is_tail(2) ? 3 : 0;
    if (0xf0 <= first && first <= 0xf4)
        return is_tail(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && is_tail(2) && is_tail(3)
                   ? 4
                   : 0;
    return 0;
}

namespace {

class label_reader {
public:
    explicit label_reader(std::string_view given)
        : given_(given)
        , rest_(given) {}

    std::string read() {
        while (!rest_.empty()) {
            if (!result_.empty())
                skip(",", "must have a comma between two labels");
            read_name();
            skip("=\"", "must have =\" after a name");
            read_value();
        }
        return std::move(result_);
    }

private:
    [[noreturn]] void fail(std::string_view rule) const { refuse("retry_metrics.labels", shown(given_), rule); }

    void skip(std::string_view expected, std::string_view rule) {
        if (!rest_.starts_with(expected))
            fail(rule);
        result_ += expected;
        rest_.remove_prefix(expected.size());
    }

    void read_name() {
        auto const end =
            std::ranges::find_if_not(rest_, [](char c) { return is_letter(c) || is_digit(c); }) - rest_.begin();
        std::string_view const name = rest_.substr(0, static_cast<std::size_t>(end));
        if (name.empty() || is_digit(name.front()) || name.starts_with("__"))
            fail("must have names of letters, digits and _ that begin neither with a digit nor with __");
        for (std::string_view const own : {"reason", "retried", "outcome", "le"})
            if (name == own)
                fail("must not have a name that lines have already: reason, retried, outcome, le");
        if (std::ranges::find(names_, name) != names_.end())
            fail("must have every name once");
        names_.push_back(name);
        result_ += name;
        rest_.remove_prefix(name.size());
    }

    void read_value() {
        while (!rest_.empty()) {
            char const c = rest_.front();
            std::string_view const next = rest_.substr(1, 1);
            if (c == '"' && (next.empty() || next == ",")) {
                rest_.remove_prefix(1);
                result_ += '"';
                return;
            }
            std::size_t length = length_of_first_character(rest_);
            if (length == 0)
                fail("must be UTF-8");
            if (c == '\\' && (next == "\\" || next == "\"" || next == "n"))
                length = 2;
            else if (c == '\\' || c == '"')
                result_ += '\\';
            result_ += c == '\n' ? "\\n" : rest_.substr(0, length);
            rest_.remove_prefix(length);
        }
        fail("must have a quote at the end of a value");
    }

    std::string_view const given_;
    std::string_view rest_;
    std::vector<std::string_view> names_;
    std::string result_;
};

} // namespace

bool is_metric_name(std::string_view name) noexcept {
    return !name.empty() && !is_digit(name.front()) &&
           std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == ':'; });
}

bool is_utf_8(std::string_view text) noexcept {
    while (!text.empty()) {
        std::size_t const length = length_of_first_character(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string checked_labels(std::string_view given) {
    return label_reader(given).read();
}

} // namespace asio_retry::detail
