#include <asio_retry/failure_class.hpp>
#include <asio_retry/pushback.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using asio_retry::duration;
using asio_retry::pushback;
__extension__ using wide = __int128;

[[noreturn]] void report(std::string const& fault) {
    std::fprintf(stderr, "pushback: %s\n", fault.c_str());
    std::abort();
}

std::string without_blanks(std::string text) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
    return text;
}

/// Digits alone, held at more nanoseconds than there are.
std::optional<wide> number_in(std::string const& text) {
    if (text.empty() || text.find_first_not_of("0123456789") != text.npos)
        return std::nullopt;
    wide number = 0;
    for (char const c : text)
        if (number < wide(1) << 80)
            number = number * 10 + (c - '0');
    return number;
}

/// What the system's own reader of dates makes of the text, to which white space and case mean less; seconds
/// since 1970.
std::optional<std::time_t> lenient_date(std::string const& text, char const* form, int centuries) {
    std::tm fields{};
    char const* const end = strptime(text.c_str(), form, &fields);
    if (!end || *end != '\0')
        return std::nullopt;
    fields.tm_year += 100 * centuries;
    return timegm(&fields);
}

/// Digits, and behind a point others, in nanoseconds of a unit of so many digits, rounded up.
std::optional<wide> decimal_in(std::string const& text, std::size_t digits) {
    auto const point = text.find('.');
    auto const whole = number_in(text.substr(0, point));
    if (!whole)
        return std::nullopt;
    std::string fraction = point == text.npos ? "0" : text.substr(point + 1);
    if (!number_in(fraction))
        return std::nullopt;
    bool const is_more = fraction.size() > digits && fraction.find_first_not_of('0', digits) != fraction.npos;
    fraction.resize(digits, '0');
    wide unit = 1;
    for (std::size_t i = 0; i != digits; ++i)
        unit *= 10;
    return *whole * unit + *number_in(fraction) + (is_more ? 1 : 0);
}

void check_number(pushback said, std::optional<wide> number, wide unit, char const* what) {
    if (bool(said) != number.has_value())
        report(std::string(what) + (number ? " does not read a number" : " reads what is no number"));
    if (said.forbids())
        report(std::string(what) + " forbids");
    if (number && wide(said.delay().count()) != std::min(*number * unit, wide(duration::max().count())))
        report(std::string(what) + " reads another number");
}

void check_date(pushback said, std::string const& text, wide now) {
    if (!said)
        return;
    for (char const* form :
         {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"}) {
        // Two digits may be of any century.
        for (int const centuries : {0, -3, -2, -1, 1, 2, 3}) {
            auto const date = lenient_date(text, form, form[1] == 'A' ? centuries : 0);
            wide const left = date ? wide(*date) * 1'000'000'000 - now : -1;
            if (date && std::clamp(left, wide(0), wide(duration::max().count())) == said.delay().count())
                return;
        }
    }
    report("another date is read, or what is none");
}

/// The text with "s" for each of its strings, so that no mark is in one; nothing where one is no string.
std::optional<std::string> without_strings(std::string const& text) {
    std::string result;
    for (std::size_t i = 0; i != text.size(); ++i) {
        result += text[i];
        if (text[i] != '"')
            continue;
        bool const is_display = i != 0 && text[i - 1] == '%';
        for (++i; i != text.size() && text[i] != '"'; ++i) {
            if (text[i] < ' ' || text[i] > '~')
                return std::nullopt;
            if (text[i] == '\\' && !is_display && (++i == text.size() || (text[i] != '"' && text[i] != '\\')))
                return std::nullopt;
        }
        if (i == text.size())
            return std::nullopt;
        result += "s\"";
    }
    return result;
}

std::vector<std::string> split(std::string const& text, char mark) {
    std::vector<std::string> parts(1);
    for (char const c : text)
        if (c == mark)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

bool is_item(std::string const& text) {
    auto const is_of_word = [](char c) { return '!' <= c && c <= '~' && c != '"' && c != '(' && c != ')'; };
    return text == "\"s\"" || text == "%\"s\"" || (!text.empty() && std::ranges::all_of(text, is_of_word));
}

/// The text with () for each of its inner lists; nothing where one is no list.
std::optional<std::string> without_lists(std::string text) {
    for (std::size_t begin = 0; (begin = text.find('(', begin)) != text.npos; begin += 2) {
        auto const end = text.find(')', begin);
        if (end == text.npos)
            return std::nullopt;
        std::string inner = text.substr(begin + 1, end - begin - 1);
        std::ranges::replace_if(inner, [](char c) { return c == ';' || c == '='; }, ' ');
        for (std::string const& part : split(inner, ' '))
            if (part.find(',') != part.npos || (!part.empty() && !is_item(part)))
                return std::nullopt;
        text.replace(begin, end - begin + 1, "()");
    }
    return text;
}

/// The numbers of a policy, in nanoseconds; a number that is none breaks the field.
struct policy_numbers {
    std::optional<wide> left, reset;
    bool is_broken = false;

    void read(std::string const& name, std::string const& value, std::string const& name_of_left,
              std::string const& name_of_reset) {
        if (name == name_of_left)
            left = number_in(value);
        if (name == name_of_reset)
            reset = decimal_in(value, 9);
        is_broken = is_broken || (name == name_of_left && !left) || (name == name_of_reset && !reset);
    }

    std::optional<wide> wish() const { return left == wide(0) ? reset : std::nullopt; }
};

/// RateLimit, cut into pieces from outside to inside.
std::optional<wide> rate_limit_in(std::string const& text) {
    auto const no_strings = without_strings(text);
    auto const marked = no_strings ? without_lists(*no_strings) : std::nullopt;
    if (!marked)
        return std::nullopt;
    std::vector<policy_numbers> lines(1);
    std::optional<wide> longest;
    bool has_pairs = false, has_items = false;
    for (std::string const& member : split(*marked, ',')) {
        std::vector<std::string> parts = split(without_blanks(member), ';');
        bool const is_name = !parts[0].empty() && (parts[0][0] == '*' || std::islower(parts[0][0]));
        auto const sign = is_name ? parts[0].find('=') : std::string::npos;
        std::string const name = parts[0].substr(0, sign);
        std::string const value = sign == name.npos ? name : parts[0].substr(sign + 1);
        if ((name != "()" && !is_item(name)) || (value != "()" && !is_item(value)))
            return std::nullopt;
        has_items = has_items || !is_name;
        if (sign != name.npos) {
            has_pairs = true;
            if ((name == "remaining" && lines.back().left) || (name == "reset" && lines.back().reset))
                lines.emplace_back();
            lines.back().read(name, value, "remaining", "reset");
        }
        policy_numbers one;
        for (std::string part : std::span(parts).subspan(1)) {
            part.erase(0, part.find_first_not_of(' '));
            auto const equals = part.find('=');
            std::string const key = part.substr(0, equals);
            std::string const number = equals == key.npos ? std::string() : part.substr(equals + 1);
            if (!is_item(key) || key.ends_with('"') || (equals != key.npos && !is_item(number)))
                return std::nullopt;
            one.read(key, number, "r", "t");
        }
        if (one.is_broken || lines.back().is_broken || (has_pairs && has_items))
            return std::nullopt;
        longest = std::max(longest, one.wish());
    }
    if (!has_pairs)
        return longest;
    auto const wishes = lines | std::views::transform(&policy_numbers::wish);
    return *std::ranges::max_element(wishes);
}

/// Each byte that is no ASCII stands for a piece of these fields, so that more of them are found.
std::string spelled(std::string const& text) {
    static constexpr std::string_view pieces[] = {
        "remaining=", "reset=", "limit=",     ";r=", ";t=",   "\"a\"", "\"a;,\"", "\\\"",  ", ",  ";r=0",
        ";t=9",       "0.873",  "1795896072", "403", "=:a=:", "\n",    "=(",      "(a b)", "%\"", "foo, "};
    std::string result;
    for (char const c : text)
        if (auto const byte = static_cast<unsigned char>(c); byte < 128)
            result += c;
        else
            result += pieces[byte % std::size(pieces)];
    return result;
}

void check_rate_limit(std::string const& text) {
    check_number(asio_retry::parse_rate_limit(text), rate_limit_in(without_blanks(text)), 1,
                 "parse_rate_limit");
}

/// Lines of the text are the fields of a response.
void check_http(std::string const& text, std::chrono::system_clock::time_point now) {
    std::vector<std::string> lines = split(text, '\n');
    lines.resize(4);
    asio_retry::http_fields const fields{.retry_after = lines[0],
                                         .retry_after_ms = lines[1],
                                         .rate_limit = lines[2],
                                         .rate_limit_reset = lines[3]};
    for (int const status : {200, 304, 403, 404, 413, 429, 500, 503}) {
        std::vector<pushback> wishes{asio_retry::parse_retry_after(lines[0], now),
                                     asio_retry::parse_retry_after_ms(lines[1])};
        if (status == 429 || status == 503) {
            wishes.push_back(asio_retry::parse_rate_limit(lines[2]));
            wishes.push_back(asio_retry::parse_rate_limit_reset(lines[3], now));
        }
        std::erase_if(wishes, [](pushback wish) { return !wish; });
        auto const longest = std::ranges::max_element(wishes, {}, &pushback::delay);
        bool const is_said = status >= 400 && longest != wishes.end();
        asio_retry::judgement const judged = asio_retry::judge_http(status, fields, now);
        if (judged.failed != (status >= 400) || judged.said != (is_said ? *longest : pushback()))
            report("judge_http hears another wish");
        bool const is_throttled = status == 429 || ((status == 403 || status == 413) && is_said);
        if (is_throttled != (judged.what.kind == asio_retry::failure_kind::throttled))
            report("judge_http finds another kind");
    }
}

} // namespace

/// libFuzzer's entry: eight bytes are the time, the rest is what a peer says.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::uint64_t bits = 0;
    std::size_t read = 0;
    for (; read < size && read < 8; ++read)
        bits = bits << 8 | data[read];
    std::chrono::system_clock::time_point const now{
        std::chrono::system_clock::duration(static_cast<std::int64_t>(bits))};
    std::string const text(reinterpret_cast<char const*>(data) + read, size - read);
    std::string const inner = without_blanks(text);
    auto const number = number_in(inner);

    pushback const seconds = asio_retry::parse_retry_after(text, now);
    pushback const milliseconds = asio_retry::parse_retry_after_ms(text);
    pushback const grpc = asio_retry::parse_grpc_pushback(text);
    pushback const reset = asio_retry::parse_rate_limit_reset(text, now);
    pushback const limit = asio_retry::parse_rate_limit(text);
    for (pushback const said : {seconds, milliseconds, grpc, reset, limit})
        if (said.delay() < duration::zero())
            report("a negative delay");

    if (auto const fine = decimal_in(inner, 9))
        check_number(seconds, fine, 1, "parse_retry_after");
    else
        check_date(seconds, inner, duration(now.time_since_epoch()).count());
    check_number(milliseconds, decimal_in(inner, 6), 1, "parse_retry_after_ms");
    auto decimal = decimal_in(inner, 9);
    constexpr wide second = 1'000'000'000;
    auto const whole = number_in(inner.substr(0, inner.find('.')));
    if (decimal && whole >= 100 * second) // in milliseconds
        decimal = decimal_in(inner, 6);
    if (decimal && whole >= second)
        decimal = std::max(*decimal - wide(duration(now.time_since_epoch()).count()), wide(0));
    // The first and the last second of the clock are not told from one another.
    using wall_time = std::chrono::system_clock::time_point;
    if (wall_time::min() + std::chrono::seconds(1) < now && now < wall_time::max() - std::chrono::seconds(1))
        check_number(reset, decimal, 1, "parse_rate_limit_reset");
    bool const is_int32 = number && *number <= INT32_MAX;
    if (is_int32 == grpc.forbids() || (is_int32 && wide(grpc.delay().count()) != *number * 1'000'000))
        report("parse_grpc_pushback reads another number");
    check_rate_limit(text);
    check_rate_limit(spelled(text));
    check_http(spelled(text), now);
    return 0;
}
