#include "observe/exposition.hpp"
#include "policy/field_text.hpp"
#include "policy/shown_text.hpp"
#include "policy/utf_8.hpp"

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/observe/retry_metrics.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// Labels come from operators, and may be any text.

namespace asio_retry::detail {
namespace {

constexpr bool is_letter(char c) noexcept {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
}

bool is_label_name(std::string_view name) noexcept {
    return !name.empty() && !is_digit(name.front()) && !name.starts_with("__") &&
           std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_own_label(std::string_view name) noexcept {
    constexpr std::string_view own[] = {"reason", "retried", "outcome", "error_type", "le"};
    return std::ranges::find(own, name) != std::end(own);
}

/// Appends a character, escaped for the value of a label.
void append_escaped(std::string& text, std::string_view character) {
    if (character == "\n")
        character = "\\n";
    else if (character == "\\" || character == "\"")
        text += '\\';
    text += character;
}

class label_reader {
public:
    explicit label_reader(std::string_view given)
        : given_(given)
        , rest_(given) {}

    label_text read() {
        while (!rest_.empty()) {
            if (!result_.text.empty())
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
        result_.text += expected;
        rest_.remove_prefix(expected.size());
    }

    void read_name() {
        auto const end =
            std::ranges::find_if_not(rest_, [](char c) { return is_letter(c) || is_digit(c); }) - rest_.begin();
        std::string_view const name = rest_.substr(0, static_cast<std::size_t>(end));
        if (!is_label_name(name))
            fail("must have names of letters, digits and _ that begin neither with a digit nor with __");
        if (is_own_label(name))
            fail("must not have a name that lines have already: reason, retried, outcome, error_type, le");
        if (std::ranges::find(result_.names, name) != result_.names.end())
            fail("must have every name once");
        result_.names.emplace_back(name);
        result_.text += name;
        rest_.remove_prefix(name.size());
    }

    void read_value() {
        while (!rest_.empty()) {
            char const c = rest_.front();
            std::string_view const next = rest_.substr(1, 1);
            if (c == '"' && (next.empty() || next == ",")) {
                rest_.remove_prefix(1);
                result_.text += '"';
                return;
            }
            std::size_t length = length_of_first_character(rest_);
            if (length == 0)
                fail("must be UTF-8");
            if (c == '\\' && (next == "\\" || next == "\"" || next == "n"))
                result_.text += rest_.substr(0, length = 2);
            else
                append_escaped(result_.text, rest_.substr(0, length));
            rest_.remove_prefix(length);
        }
        fail("must have a quote at the end of a value");
    }

    std::string_view const given_;
    std::string_view rest_;
    label_text result_;
};

} // namespace

bool is_metric_name(std::string_view name) noexcept {
    return !name.empty() && !is_digit(name.front()) &&
           std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == ':'; });
}

label_text checked_labels(std::string_view given) {
    return label_reader(given).read();
}

label_text gauge_labels(std::span<metric_label const> given) {
    std::vector<metric_label const*> sorted;
    for (metric_label const& each : given)
        sorted.push_back(&each);
    std::ranges::sort(sorted, {}, &metric_label::name);
    label_text result;
    for (metric_label const* each : sorted) {
        auto const demand = [&](bool is_kept, std::string_view rule) {
            if (!is_kept)
                refuse("retry_metrics.label", shown(each->name), rule);
        };
        demand(is_label_name(each->name),
               "must be a name of letters, digits and _ that begins neither with a digit nor with __");
        demand(!is_own_label(each->name),
               "must not be a name that lines have already: reason, retried, outcome, error_type, le");
        demand(result.names.empty() || result.names.back() != each->name, "must be there once");
        result.names.push_back(each->name);
        if (each->value.empty())
            continue;
        result.text.append(result.text.empty() ? "" : ",").append(each->name).append("=\"");
        for (std::string_view rest = each->value; !rest.empty();) {
            std::size_t const length = length_of_first_character(rest);
            append_escaped(result.text, length == 0 ? "\xef\xbf\xbd" : rest.substr(0, length));
            rest.remove_prefix(std::max(length, std::size_t(1)));
        }
        result.text += '"';
    }
    return result;
}

} // namespace asio_retry::detail
