#include "text/number.hpp"

#include "policy/duration_units.hpp"
#include "text/nearest.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <locale>
#include <numeric>
#include <sstream>
#include <system_error>

namespace asio_retry::detail {
namespace {

constexpr std::string_view decimal_digits = "0123456789";

/// Other names of some units, for messages. "m" may mean min or ms.
struct unit_alias {
    std::string_view name, means;
};
constexpr unit_alias unit_aliases[] = {{"m", "min or ms"}, {"minute", "min"},   {"minutes", "min"},
                                       {"mins", "min"},    {"sec", "s"},        {"secs", "s"},
                                       {"second", "s"},    {"seconds", "s"},    {"hour", "h"},
                                       {"hours", "h"},     {"\xc2\xb5s", "us"}, {"\xce\xbcs", "us"}};

std::string unit_question(std::string_view found) {
    for (unit_alias const& alias : unit_aliases)
        if (alias.name == found)
            return std::string("; did you mean ").append(alias.means) + '?';
    return did_you_mean(found, duration_units);
}

bool is_unit(std::string_view name) {
    return std::ranges::find(duration_units, name, &duration_unit::name) != std::end(duration_units);
}

/// The number that digits stand for. None if it is beyond 64 bits. Precondition: digits only.
std::optional<std::uint64_t> count_of_digits(std::string_view digits) {
    std::uint64_t count = 0;
    if (digits.empty())
        return count;
    auto const read = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    return read.ec == std::errc() ? std::optional(count) : std::nullopt;
}

/// The fraction of a unit that the digits behind a point stand for; none if it is no whole number.
std::optional<std::uint64_t> part_of(std::uint64_t unit, std::string_view fraction) {
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
    // The largest unit is 2^13 * 3^2 * 5^11, and these digits are not a multiple of both 2 and 5.
    constexpr std::size_t most_digits = 13;
    if (fraction.size() > most_digits)
        return std::nullopt;
    std::uint64_t scale = 1;
    for (std::size_t i = 0; i != fraction.size(); ++i)
        scale *= 10;
    std::uint64_t const common = std::gcd(unit, scale), digits = *count_of_digits(fraction);
    if (digits % (scale / common) != 0)
        return std::nullopt;
    return digits / (scale / common) * (unit / common);
}

/// whole * unit + part; none if it is above `greatest`.
std::optional<std::uint64_t> sum_up_to(std::uint64_t greatest, std::optional<std::uint64_t> whole,
                                       std::uint64_t unit, std::uint64_t part) {
    if (!whole || part > greatest || *whole > (greatest - part) / unit)
        return std::nullopt;
    return *whole * unit + part;
}

} // namespace

std::string to_text(double value) {
    char text[32];
    return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

duration read_duration(std::string_view word, text_position const& at) {
    bool const is_negative = word.starts_with('-');
    std::string_view rest = word.substr(is_negative ? 1 : 0);
    auto const take_digits = [&] {
        std::string_view const digits = rest.substr(0, rest.find_first_not_of(decimal_digits));
        rest.remove_prefix(digits.size());
        return digits;
    };
    std::string_view const whole = take_digits();
    std::string_view fraction;
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        fraction = take_digits();
        if (fraction.empty())
            fail_expecting(at, whole.empty() ? "a duration such as 500ms" : "a digit behind the point", word);
    }
    if (whole.empty() && fraction.empty())
        fail_expecting(at, "a duration such as 500ms", word);

    auto const* const unit = std::ranges::find(duration_units, rest, &duration_unit::name);
    if (rest.starts_with(' ') && is_unit(rest.substr(rest.find_last_of(' ') + 1)))
        fail_expecting(at, "no space between a number and its unit", word);
    if (unit == std::end(duration_units))
        fail_expecting(at.after(word.size() - rest.size()), "a unit (ns, us, ms, s, min or h)", rest,
                       unit_question(rest));
    std::optional<std::uint64_t> const part = part_of(unit->nanoseconds, fraction);
    if (!part)
        fail_expecting(at, "a whole number of nanoseconds", word);
    std::uint64_t const greatest = static_cast<std::uint64_t>(duration::max().count()) + (is_negative ? 1 : 0);
    std::optional<std::uint64_t> const count =
        sum_up_to(greatest, count_of_digits(whole), unit->nanoseconds, *part);
    if (!count)
        fail_expecting(at, "a duration of less than 2^63ns", word);
    return duration(static_cast<std::int64_t>(is_negative ? 0 - *count : *count));
}

std::optional<std::int64_t> read_whole(std::string_view digits) {
    std::int64_t value = 0;
    char const* const end = digits.data() + digits.size();
    auto const read = std::from_chars(digits.data(), end, value);
    return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

// libc++ before 20 has no std::from_chars for this.
std::optional<double> read_number(std::string_view digits) {
    std::istringstream in{std::string(digits)};
    in.imbue(std::locale::classic());
    double value = 0;
    in >> value;
    // Some standard libraries fail for a tiny number, too; its value is used all the same.
    bool const is_too_large = in.fail() && std::abs(value) >= std::numeric_limits<double>::max();
    return is_too_large ? std::nullopt : std::optional(value);
}

} // namespace asio_retry::detail
