#include <asio_retry/pushback.hpp>

#include <asio_retry/detail/policy/refuse.hpp>

#include "policy/field_text.hpp"
#include "policy/longer_wish.hpp"
#include "policy/saturating_sum.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace asio_retry {
namespace {

using detail::whole_number;
using detail::without_blanks;

template <typename Unit>
duration held_duration(std::int64_t count) noexcept {
    return count > std::chrono::duration_cast<Unit>(duration::max()).count() ? duration::max()
                                                                             : duration(Unit(count));
}

/// Digits, and a fraction if there is a point.
struct decimal_number {
    std::int64_t whole = 0;    // held at the greatest number
    std::string_view fraction; // the digits behind the point
};

std::optional<decimal_number> read_decimal(std::string_view text) noexcept {
    auto const point = text.find('.');
    auto const whole = whole_number<std::int64_t>(text.substr(0, point));
    if (!whole)
        return std::nullopt;
    if (point == text.npos)
        return decimal_number{*whole, {}};
    std::string_view const fraction = text.substr(point + 1);
    if (fraction.empty() || !std::ranges::all_of(fraction, detail::is_digit))
        return std::nullopt;
    return decimal_number{*whole, fraction};
}

/// A fraction of a unit, rounded up to the nanosecond.
duration fraction_of(duration unit, std::string_view digits) noexcept {
    duration::rep place = unit.count(), found = 0;
    bool is_more = false;
    for (char const digit : digits) {
        place /= 10;
        found += (digit - '0') * place;
        is_more = is_more || (place == 0 && digit != '0');
    }
    return duration(found + (is_more ? 1 : 0));
}

template <typename Unit>
duration held_duration(decimal_number const& number) noexcept {
    return detail::saturating_sum(held_duration<Unit>(number.whole), fraction_of(Unit(1), number.fraction));
}

/// Reads a text from its front; once an expected part is missing, nothing more is found.
class date_reader {
public:
    explicit date_reader(std::string_view text) noexcept
        : rest_(text) {}

    bool is_over() const noexcept { return rest_.empty() && !failed_; }
    bool has_failed() const noexcept { return failed_; }

    date_reader& expect(std::string_view text) noexcept {
        if (!skip(text))
            failed_ = true;
        return *this;
    }

    bool skip(std::string_view text) noexcept {
        if (failed_ || !rest_.starts_with(text))
            return false;
        rest_.remove_prefix(text.size());
        return true;
    }

    int number(std::size_t digits) noexcept {
        std::string_view const text = rest_.substr(0, digits);
        auto const value = text.size() == digits ? whole_number<int>(text) : std::nullopt;
        failed_ = failed_ || !value;
        if (failed_)
            return 0;
        rest_.remove_prefix(digits);
        return *value;
    }

    /// The position of the next name among `names`, from 1. Each name is cut to `length`.
    template <std::size_t Count>
    unsigned name(std::string_view const (&names)[Count],
                  std::size_t length = std::string_view::npos) noexcept {
        for (unsigned i = 0; i < Count; ++i)
            if (skip(names[i].substr(0, length)))
                return i + 1;
        failed_ = true;
        return 0;
    }

private:
    std::string_view rest_;
    bool failed_ = false;
};

constexpr std::string_view day_names[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                          "Friday", "Saturday", "Sunday"};
constexpr std::string_view month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

using whole_seconds = std::chrono::sys_seconds;

int year_of(std::chrono::system_clock::time_point now) noexcept {
    return int(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(now)).year());
}

int full_year(int two_digits, int this_year) noexcept {
    int const past = this_year - 49; // the first of the hundred years that are possible
    int const behind = (past % 100 + 100) % 100;
    return past + (two_digits - behind + 100) % 100;
}

/// The fields of the three forms, each in its own order.
struct date_fields {
    int year = 0;
    unsigned month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;

    void read_time(date_reader& from) noexcept {
        hour = from.number(2);
        minute = from.expect(":").number(2);
        second = from.expect(":").number(2);
    }

    std::optional<whole_seconds> point() const noexcept {
        std::chrono::year_month_day const date{std::chrono::year(year), std::chrono::month(month),
                                               std::chrono::day(static_cast<unsigned>(day))};
        int const last = hour == 23 && minute == 59 ? 60 : 59; // a leap second
        if (!date.ok() || hour > 23 || minute > 59 || second > last)
            return std::nullopt;
        return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
               std::chrono::seconds(second);
    }
};

/// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<whole_seconds> read_imf_date(date_reader from) noexcept {
    date_fields date;
    from.name(day_names, 3);
    date.day = from.expect(", ").number(2);
    date.month = from.expect(" ").name(month_names);
    date.year = from.expect(" ").number(4);
    date.read_time(from.expect(" "));
    return from.expect(" GMT").is_over() ? date.point() : std::nullopt;
}

/// Sunday, 06-Nov-94 08:49:37 GMT
std::optional<whole_seconds> read_rfc850_date(date_reader from, int this_year) noexcept {
    date_fields date;
    from.name(day_names);
    date.day = from.expect(", ").number(2);
    date.month = from.expect("-").name(month_names);
    date.year = full_year(from.expect("-").number(2), this_year);
    date.read_time(from.expect(" "));
    return from.expect(" GMT").is_over() ? date.point() : std::nullopt;
}

/// Sun Nov  6 08:49:37 1994
std::optional<whole_seconds> read_asctime_date(date_reader from) noexcept {
    date_fields date;
    from.name(day_names, 3);
    date.month = from.expect(" ").name(month_names);
    date.day = from.expect(" ").skip(" ") ? from.number(1) : from.number(2);
    date.read_time(from.expect(" "));
    date.year = from.expect(" ").number(4);
    return from.is_over() ? date.point() : std::nullopt;
}

std::optional<whole_seconds> read_date(std::string_view text, int this_year) noexcept {
    if (auto const imf = read_imf_date(date_reader(text)))
        return imf;
    if (auto const rfc850 = read_rfc850_date(date_reader(text), this_year))
        return rfc850;
    return read_asctime_date(date_reader(text));
}

/// From `now` to `then`, to the nanosecond; saturates for a distant year.
duration until_date(whole_seconds then, std::chrono::system_clock::time_point now) noexcept {
    now = std::min(now, std::chrono::system_clock::time_point::max() - std::chrono::seconds(1));
    whole_seconds const next = std::chrono::ceil<std::chrono::seconds>(now);
    if (then < next)
        return duration::zero();
    duration const before = std::chrono::duration_cast<duration>(next - now);
    duration const after = held_duration<std::chrono::seconds>((then - next).count());
    return detail::saturating_sum(before, after);
}

/// From `now` to `then` seconds after 1970, plus `more`. Precondition: `more` is at most a second.
duration until_second(std::int64_t then, duration more, std::chrono::system_clock::time_point now) noexcept {
    using clock = std::chrono::system_clock;
    now = std::clamp(now, clock::time_point::min() + std::chrono::seconds(1),
                     clock::time_point::max() - std::chrono::seconds(1));
    whole_seconds const second = std::chrono::floor<std::chrono::seconds>(now);
    std::int64_t const whole = std::min(then, std::numeric_limits<std::int64_t>::max() / 2);
    std::int64_t const left = whole - second.time_since_epoch().count();
    if (left < 0)
        return duration::zero();
    duration const passed = std::chrono::duration_cast<duration>(now - second);
    duration const from_second = held_duration<std::chrono::seconds>(left);
    if (from_second == duration::max())
        return from_second;
    if (more >= passed)
        return detail::saturating_sum(from_second, more - passed);
    return from_second > passed ? from_second + more - passed : duration::zero();
}

/// The values of a RateLimit field for one policy.
struct quota {
    std::optional<std::int64_t> remaining;
    std::optional<decimal_number> reset;

    pushback wish() const noexcept {
        return remaining == 0 && reset ? pushback::after(held_duration<std::chrono::seconds>(*reset))
                                       : pushback();
    }
};

/// Reads the structured field from its front; once the grammar is broken, the text says nothing.
class rate_limit_reader {
public:
    explicit rate_limit_reader(std::string_view text) noexcept
        : rest_(text) {}

    pushback read() noexcept {
        do {
            skip_blanks();
            read_member();
            skip_blanks();
        } while (skip(','));
        if (failed_ || !rest_.empty() || (is_list_ && is_dictionary_))
            return pushback();
        return is_dictionary_ ? detail::longer_wish(of_pairs_, pair_.wish()) : of_items_;
    }

private:
    /// A name without a value belongs to both forms: it is an item of a list, or true in a dictionary.
    void read_member() noexcept {
        bool const is_name = rest_.starts_with('*') || (!rest_.empty() && 'a' <= rest_[0] && rest_[0] <= 'z');
        std::string_view const name = is_name ? word("=;,\"() \t") : item();
        is_list_ = is_list_ || !is_name;
        if (is_name && skip('=')) {
            is_dictionary_ = true;
            std::string_view const text = item();
            if (name == "remaining")
                read_of_pair(pair_.remaining, whole_number<std::int64_t>(text));
            if (name == "reset")
                read_of_pair(pair_.reset, read_decimal(text));
        }
        quota policy;
        while (skip(';')) {
            rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
            std::string_view const key = word("=;,\"() \t");
            std::string_view const text = skip('=') ? bare_item(";,\"() \t") : std::string_view();
            if (key == "r")
                read_number(policy.remaining, whole_number<std::int64_t>(text));
            if (key == "t")
                read_number(policy.reset, read_decimal(text));
        }
        of_items_ = detail::longer_wish(of_items_, policy.wish());
    }

    /// A repeated key begins the pairs of another header line.
    template <typename Number>
    void read_of_pair(std::optional<Number>& into, std::optional<Number> read) noexcept {
        if (into) {
            of_pairs_ = detail::longer_wish(of_pairs_, pair_.wish());
            pair_ = quota();
        }
        read_number(into, read);
    }

    template <typename Number>
    void read_number(std::optional<Number>& into, std::optional<Number> read) noexcept {
        failed_ = failed_ || !read;
        into = read;
    }

    std::string_view item() noexcept { return rest_.starts_with('(') ? inner_list() : bare_item(";,\"() \t"); }

    /// Reads an inner list with its parentheses, so that it is no number.
    std::string_view inner_list() noexcept {
        std::string_view const whole = rest_;
        rest_.remove_prefix(1);
        do {
            rest_.remove_prefix(std::min(rest_.find_first_not_of(" ;="), rest_.size()));
            if (skip(')'))
                return whole.substr(0, whole.size() - rest_.size());
            bare_item(" ;=,\"()");
        } while (!failed_ && rest_.find_first_of(" ;=)") == 0);
        failed_ = true;
        return {};
    }

    std::string_view bare_item(std::string_view ends) noexcept {
        return rest_.starts_with('"') || rest_.starts_with("%\"") ? string() : word(ends);
    }

    /// The characters before the first of `ends`, at least one.
    std::string_view word(std::string_view ends) noexcept {
        std::string_view const found = rest_.substr(0, rest_.find_first_of(ends));
        failed_ = failed_ || found.empty() || !std::ranges::all_of(found, is_printable);
        rest_.remove_prefix(found.size());
        return found;
    }

    /// Reads a string with its quotes, so that it is no number. A backslash escapes a quote or a backslash. In
    /// a display string, which begins with a percent sign, it is a character.
    std::string_view string() noexcept {
        bool const is_display = rest_.starts_with('%');
        for (std::size_t i = is_display ? 2 : 1; i < rest_.size() && is_printable(rest_[i]); ++i) {
            if (rest_[i] == '"') {
                std::string_view const found = rest_.substr(0, i + 1);
                rest_.remove_prefix(found.size());
                return found;
            }
            bool const is_escape = rest_[i] == '\\' && !is_display;
            if (is_escape && ++i < rest_.size() && rest_[i] != '"' && rest_[i] != '\\')
                break;
        }
        failed_ = true;
        return {};
    }

    static bool is_printable(char c) noexcept { return ' ' <= c && c <= '~'; }

    void skip_blanks() noexcept { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

    bool skip(char c) noexcept {
        if (failed_ || !rest_.starts_with(c))
            return false;
        rest_.remove_prefix(1);
        return true;
    }

    std::string_view rest_;
    quota pair_;        // the pairs of the current line
    pushback of_pairs_; // the longest wish of earlier lines
    pushback of_items_; // the longest wish of list items
    bool is_list_ = false;
    bool is_dictionary_ = false;
    bool failed_ = false;
};

} // namespace

pushback pushback::after(saturating_duration delay) {
    return pushback(detail::non_negative("pushback.after", delay));
}

pushback parse_retry_after(std::string_view text, std::chrono::system_clock::time_point now) noexcept {
    text = without_blanks(text);
    if (auto const seconds = read_decimal(text))
        return pushback::after(held_duration<std::chrono::seconds>(*seconds));
    if (auto const date = read_date(text, year_of(now)))
        return pushback::after(until_date(*date, now));
    return pushback();
}

pushback parse_retry_after_ms(std::string_view text) noexcept {
    if (auto const count = read_decimal(without_blanks(text)))
        return pushback::after(held_duration<std::chrono::milliseconds>(*count));
    return pushback();
}

pushback parse_rate_limit_reset(std::string_view text, std::chrono::system_clock::time_point now) noexcept {
    auto const number = read_decimal(without_blanks(text));
    if (!number)
        return pushback();
    constexpr std::int64_t first_date = 1'000'000'000;              // in 2001; as seconds from now, 31 years
    constexpr std::int64_t first_in_milliseconds = 100'000'000'000; // in 1973; in seconds, the year 5138
    if (number->whole < first_date)
        return pushback::after(held_duration<std::chrono::seconds>(*number));
    if (number->whole < first_in_milliseconds)
        return pushback::after(
            until_second(number->whole, fraction_of(std::chrono::seconds(1), number->fraction), now));
    using std::chrono::milliseconds;
    duration const more = milliseconds(number->whole % 1000) + fraction_of(milliseconds(1), number->fraction);
    return pushback::after(until_second(number->whole / 1000, more, now));
}

pushback parse_rate_limit(std::string_view text) noexcept {
    return rate_limit_reader(without_blanks(text)).read();
}

pushback parse_grpc_pushback(std::string_view text) noexcept {
    auto const count = whole_number<std::int64_t>(without_blanks(text));
    if (!count || *count > std::numeric_limits<std::int32_t>::max())
        return pushback::never();
    return pushback::after(std::chrono::milliseconds(*count));
}

} // namespace asio_retry
