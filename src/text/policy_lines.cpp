#include "text/policy_lines.hpp"

#include "policy/policy_name.hpp"
#include "policy/shown_text.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace asio_retry {
namespace detail {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// A hint for users who write an item's name before the sign, and its argument as the policy.
std::string hint_for_argument(std::string_view name, std::string_view text) {
    std::string const meant = std::string(name).append("(").append(text).append(")");
    try {
        (void)parse_policy(meant);
    } catch (policy_syntax_error const&) {
        return {};
    }
    return "; write arguments in parentheses: " + shown(meant);
}

class line_reader {
public:
    explicit line_reader(std::string_view text)
        : text_(text) {}

    std::vector<named_policy> read() && {
        for (std::string_view rest = without_mark(text_); !rest.empty();) {
            std::size_t const end = std::min(rest.find('\n'), rest.size());
            read_line(trimmed(rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        if (found_.empty())
            fail_in_lines(text_, text_.size(), "expected 'name = policy', found the end");
        return std::move(found_);
    }

private:
    void read_line(std::string_view line) {
        if (line.empty() || line.front() == '#')
            return;
        auto const begin = static_cast<std::size_t>(line.data() - text_.data());
        try {
            if (std::string_view const name = name_before(line); names_.contains(name))
                fail_second({0}, name);
            found_.push_back(parse_named_policy(line));
        } catch (policy_syntax_error const& fault) {
            fail_in_lines(text_, begin + fault.position(), problem_of(fault) + hint_for_json());
        }
        names_.insert(name_before(line));
    }

    std::string hint_for_json() const {
        return trimmed(without_mark(text_)).starts_with('{') ? "; policies_from_json reads JSON" : "";
    }

    std::string_view const text_;
    std::vector<named_policy> found_;
    std::unordered_set<std::string_view> names_;
};

} // namespace

std::string_view trimmed(std::string_view text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
    return text.substr(0, text.find_last_not_of(white_space) + 1);
}

std::string_view without_mark(std::string_view text) noexcept {
    return text.substr(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
}

std::string_view name_before(std::string_view text) noexcept {
    std::size_t const sign = std::min(text.find('='), text.size());
    std::string_view const name = trimmed(text.substr(0, sign));
    bool const is_name = sign != text.size() && name.find_first_of("()<>{\"' \t") == name.npos;
    return is_name ? name : std::string_view();
}

void check_name(std::string_view name, text_position const& at) {
    if (name.empty())
        fail(at, "expected a name of at least one character, found none");
    if (name.size() > longest_policy_name)
        fail_expecting(at, "a name of at most " + std::to_string(longest_policy_name) + " bytes", name);
    if (std::size_t const bad = first_bad_character(name); bad != name.size())
        fail_expecting(at.after(bad), "a name of UTF-8 without control characters", name);
}

retry_policy parse_some_policy(std::string_view text) {
    if (trimmed(text).empty())
        fail({text.size()}, "expected a policy, found nothing");
    return parse_policy(text);
}

named_policy parse_named_policy(std::string_view text) {
    std::string_view const name = name_before(text);
    if (name.empty())
        fail({0}, "expected 'name = policy', found '" + shown(text) + "'");
    check_name(name, {static_cast<std::size_t>(name.data() - text.data())});
    std::string_view const behind = text.substr(text.find('=') + 1);
    std::string_view const policy = trimmed(behind);
    std::size_t const begin = text.size() - behind.size() + behind.find_first_not_of(white_space);
    try {
        return {std::string(name), parse_some_policy(policy)};
    } catch (policy_syntax_error const& fault) {
        if (policy.empty())
            fail({text.size()}, problem_of(fault));
        fail({begin + fault.position()}, problem_of(fault) + hint_for_argument(name, policy));
    }
}

void fail_in_lines(std::string_view text, std::size_t offset, std::string_view problem) {
    std::string_view const before = text.substr(0, offset);
    std::size_t const begin = before.rfind('\n') + 1;
    std::string_view const line = begin == 0 ? without_mark(before) : before.substr(begin);
    auto const number = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
    auto const is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
    auto const column = static_cast<std::size_t>(std::ranges::count_if(line, is_first_byte)) + 1;
    std::string message =
        "asio_retry: at line " + std::to_string(number) + ", column " + std::to_string(column);
    throw policy_syntax_error(offset, message.append(": ").append(problem), number, column);
}

void fail_second(text_position const& at, std::string_view name) {
    fail(at, "a second policy with the name '" + shown(name) + "'");
}

std::string problem_of(policy_syntax_error const& fault) {
    std::string_view const message = fault.what();
    std::string_view const separator = ": ";
    std::size_t const place = message.find(separator) + separator.size();
    return std::string(message.substr(message.find(separator, place) + separator.size()));
}

} // namespace detail

std::vector<named_policy> parse_policies(std::string_view text) {
    return detail::line_reader(text).read();
}

} // namespace asio_retry
