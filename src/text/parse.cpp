#include "policy/duration_units.hpp"
#include "policy/shown_text.hpp"
#include "text/build.hpp"
#include "text/enumerators.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/term.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace asio_retry::detail {
namespace {

/// policy: (item (white-space item)*)?
/// item: name ( (argument (, argument)*)? )
/// argument: (name =)? (number | duration | true | false | kind of failure | priority | item | text | <word>)
/// text: " (character | \" | \\)* "
class policy_parser {
public:
    explicit policy_parser(std::string_view text)
        : text_(text) {}

    std::vector<term> items() {
        std::vector<term> found;
        for (skip_space(); next_ != text_.size(); skip_space()) {
            if (!found.empty() && !is_one_of(white_space, text_[next_ - 1]))
                expect("white space or the end", hint_behind(found.back().at));
            found.push_back(item("an item such as max_attempts(10)"));
        }
        return found;
    }

private:
    static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static constexpr std::string_view digits = "0123456789";

    static bool is_one_of(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

    term item(std::string_view expected) {
        text_position const at = here();
        std::string_view const name = take_name();
        if (name.empty())
            expect(expected);
        skip_space();
        if (peek() != '(')
            expect("'('", hint_behind_name(name));
        return arguments_of(name, at);
    }

    /// Reads the arguments behind a name.
    term arguments_of(std::string_view name, text_position const& at) {
        check_depth(++depth_, at);
        term made{std::string(name), {}, at};
        ++next_;
        skip_space();
        while (peek() != ')') {
            made.arguments.push_back(next_argument(name));
            skip_space();
            if (peek() == ')')
                break;
            if (peek() != ',')
                expect_behind(made.arguments.back());
            ++next_;
            skip_space();
            if (peek() == ')')
                expect("an argument");
        }
        made.end = here();
        ++next_;
        --depth_;
        return made;
    }

    argument next_argument(std::string_view item) {
        std::size_t const begin = next_;
        std::string_view const name = take_name();
        std::size_t const behind_name = next_;
        skip_space();
        if (name.empty() || peek() != '=') {
            next_ = behind_name;
            return value_beginning(begin, name, item);
        }
        ++next_;
        skip_space();
        std::size_t const value = next_;
        argument made = value_beginning(value, take_name(), item);
        made.name = name;
        made.name_at = text_position{begin};
        return made;
    }

    /// Reads an argument of the item; `name` has been read already, and may be empty.
    argument value_beginning(std::size_t begin, std::string_view name, std::string_view item) {
        argument made{.name = "", .value = false, .at = {begin}, .name_at = {begin}};
        if (name == "true" || name == "false") {
            made.value = name == "true";
        } else if (read_enumerator(made, name)) {
            // the parameter decides whether it fits
        } else if (!name.empty()) {
            skip_space();
            if (peek() != '(')
                fail_expecting(made.at, "a value", name,
                               item == "name" ? "; write the name in quotation marks"
                                              : did_you_mean(name, failure_kind_names, request_priority_names));
            made.value = arguments_of(name, made.at);
            made.word = name;
            return made;
        } else if (peek() == '<') {
            ++next_;
            made.value = stand_in{std::string(take_name())};
            if (peek() != '>')
                expect("'>'");
            ++next_;
        } else if (peek() == '"') {
            made.value = stand_in();
            made.text = made.quoted = take_text();
        } else {
            std::string_view const number = take_number();
            if (take_unit().empty())
                made.value = number_word{std::string(number)};
            else
                made.value = read_duration(from(begin), made.at);
        }
        made.word = from(begin);
        return made;
    }

    std::string_view take_number() {
        std::size_t const begin = next_;
        if (peek() == '-')
            ++next_;
        std::size_t count = take_digits();
        if (peek() == '.') {
            ++next_;
            std::size_t const behind_point = take_digits();
            if (count != 0 && behind_point == 0)
                expect("a digit behind the point");
            count += behind_point;
        }
        if (count == 0) {
            next_ = begin;
            expect("a value");
        }
        if (peek() == 'e' || peek() == 'E') {
            std::size_t const behind_mantissa = next_++;
            if (peek() == '-' || peek() == '+')
                ++next_;
            if (take_digits() == 0)
                next_ = behind_mantissa;
        }
        return from(begin);
    }

    std::size_t take_digits() {
        std::size_t const begin = next_;
        while (next_ != text_.size() && is_one_of(digits, text_[next_]))
            ++next_;
        return next_ - begin;
    }

    /// Takes a name; empty if none begins here.
    std::string_view take_name() {
        std::size_t const begin = next_;
        while (next_ != text_.size() &&
               (is_one_of(letters, text_[next_]) || (next_ != begin && is_one_of(digits, text_[next_]))))
            ++next_;
        return from(begin);
    }

    /// Takes a text in quotation marks, and returns what stands between them.
    std::string take_text() {
        std::string text;
        ++next_;
        while (peek() != '"') {
            if (peek() == '\\') {
                ++next_;
                if (!is_one_of("\"\\", peek()))
                    expect("'\"' or '\\' behind a backslash");
            }
            if (next_ == text_.size())
                expect("'\"' behind the text");
            text += text_[next_++];
        }
        ++next_;
        return text;
    }

    /// Takes a unit, or a text in its place: the letter of a microsecond is often beyond ASCII.
    std::string_view take_unit() {
        std::size_t const begin = next_;
        do {
            while (static_cast<unsigned char>(peek()) >= 0x80)
                ++next_;
        } while (!take_name().empty());
        return from(begin);
    }

    void skip_space() {
        while (next_ != text_.size() && is_one_of(white_space, text_[next_]))
            ++next_;
    }

    /// NUL at the end; a NUL in the text is an error too.
    char peek() const { return next_ == text_.size() ? '\0' : text_[next_]; }
    std::string_view from(std::size_t begin) const { return text_.substr(begin, next_ - begin); }
    text_position here() const { return {next_}; }

    /// Reports an error at the next word.
    [[noreturn]] void expect(std::string_view expected, std::string_view hint = {}) {
        text_position const at = here();
        if (take_name().empty() && take_digits() == 0 && next_ != text_.size())
            ++next_;
        fail_expecting(at, expected, from(at.offset), hint);
    }

    /// Reports that neither a comma nor a parenthesis follows the argument.
    [[noreturn]] void expect_behind(argument const& last) {
        if (std::holds_alternative<term>(last.value))
            expect("',' or ')'", hint_behind(last.at));
        std::size_t const begin = next_;
        std::string_view const unit = take_name();
        if (std::holds_alternative<number_word>(last.value) &&
            std::ranges::find(duration_units, unit, &duration_unit::name) != std::end(duration_units))
            fail_expecting(last.at, "no space between a number and its unit", from(last.at.offset));
        next_ = begin;
        expect("',' or ')'");
    }

    /// The word of a value, from `begin`.
    std::string word_from(std::size_t begin) const {
        if (text_[begin] == '"')
            return shown(text_.substr(begin, text_.find('"', begin + 1) - begin)) + '"';
        std::size_t end = begin;
        while (end != text_.size() &&
               (is_one_of(letters, text_[end]) || is_one_of(digits, text_[end]) || is_one_of(".-", text_[end])))
            ++end;
        return shown(text_.substr(begin, end - begin));
    }

    std::string hint_behind_name(std::string_view name) const {
        std::string hint = hint_for_parentheses(name);
        return hint.empty() ? similar_name(name) : hint;
    }

    /// A hint for text like name=value, name: value or name 10.
    std::string hint_for_parentheses(std::string_view name) const {
        bool const has_sign = is_one_of("=:", peek());
        std::size_t const begin = text_.find_first_not_of(white_space, next_ + (has_sign ? 1 : 0));
        std::string const value = begin == text_.npos ? "" : word_from(begin);
        bool const may_be_next_item = begin == next_ && !is_one_of(digits, peek()); // no sign and no number
        if (value.empty() || may_be_next_item)
            return {};
        return "; write arguments in parentheses: " + shown(name) + '(' + value + ')';
    }

    /// A hint for text that looks like C++, behind the item that begins at `item`.
    std::string hint_behind(text_position const& item) const {
        if (peek() == ',')
            return "; separate items by white space alone";
        if (peek() != '.')
            return {};
        std::size_t const end = std::min(text_.find('(', next_), text_.size());
        std::string_view const setter = text_.substr(next_ + 1, end - next_ - 1);
        for (std::string_view const name : {"cap", "unit", "at_least", "beyond_cap"})
            if (setter == name) {
                std::string value = end == text_.size() ? "" : word_from(end + 1);
                if (value.empty())
                    value = name == "beyond_cap" ? "true" : "...";
                std::string_view const inside = text_.substr(item.offset, next_ - 1 - item.offset);
                return "; did you mean " + shown(inside) + (inside.ends_with('(') ? "" : ", ") +
                       std::string(name) + '=' + value + ")?";
            }
        return "; separate items by white space";
    }

    std::string_view text_;
    std::size_t next_ = 0;
    int depth_ = 0;
};

} // namespace

std::vector<term> parse_terms(std::string_view text) {
    return policy_parser(text).items();
}

} // namespace asio_retry::detail
