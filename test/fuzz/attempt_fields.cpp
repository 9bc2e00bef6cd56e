#include <asio_retry/traffic/attempt_histogram.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

// What a peer writes into the fields of traffic/attempt_histogram.hpp, against their grammar as a regular
// expression and arithmetic in 128 bits.

namespace {

using asio_retry::attempt_histogram;
__extension__ using wide = unsigned __int128;

constexpr wide greatest = ~std::uint64_t(0);

[[noreturn]] void report(std::string const& fault) {
    std::fprintf(stderr, "attempt_fields: %s\n", fault.c_str());
    std::abort();
}

/// Of nothing but digits and blanks.
std::uint64_t number_in(std::string const& text) {
    wide number = 0;
    for (char const c : text)
        if ('0' <= c && c <= '9')
            number = std::min(greatest, number * 10 + static_cast<unsigned>(c - '0'));
    return static_cast<std::uint64_t>(number);
}

std::optional<std::uint64_t> reference_number(std::string const& text) {
    static std::regex const grammar("[ \t]*[0-9]*[ \t]*");
    if (!std::regex_match(text, grammar))
        return std::nullopt;
    return static_cast<std::uint64_t>(std::min(greatest, wide(number_in(text)) + 1));
}

std::optional<std::vector<std::uint64_t>> reference_counts(std::string const& text) {
    static std::regex const grammar("[ \t]*[0-9]+[ \t]*(,[ \t]*[0-9]+[ \t]*){0,7}");
    if (!std::regex_match(text, grammar))
        return std::nullopt;
    std::vector<std::uint64_t> counts;
    std::string count;
    for (char const c : text + ',')
        if (c == ',') {
            counts.push_back(number_in(count));
            count.clear();
        } else {
            count += c;
        }
    counts.resize(attempt_histogram::buckets);
    return counts;
}

void check_histogram(attempt_histogram const& read, std::vector<std::uint64_t> const& expected) {
    wide total = 0;
    for (std::uint64_t number = 1; number <= attempt_histogram::buckets; ++number) {
        if (read.count(number) != expected[number - 1])
            report("another count is read");
        total += expected[number - 1];
    }
    if (read.total() != std::min(total, greatest))
        report("another total");
    auto const retries = static_cast<double>(total - expected[0]);
    double const share = total == 0 ? 0 : retries / static_cast<double>(total);
    double const found = read.retry_share();
    if (!(found >= 0 && found <= 1) || std::max(found - share, share - found) > 1e-12)
        report("another share of retries");
    if (asio_retry::parse_attempt_histogram(to_string(read)) != read)
        report("what is written is not read");
    attempt_histogram twice = read;
    twice.merge(read);
    for (std::uint64_t number = 1; number <= attempt_histogram::buckets; ++number)
        if (twice.count(number) != std::min(greatest, 2 * wide(expected[number - 1])))
            report("merging loses counts");
}

} // namespace

/// libFuzzer's entry: all of it is what a peer says.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const text(reinterpret_cast<char const*>(data), size);

    auto const number = asio_retry::parse_previous_attempts(text);
    if (number != reference_number(text))
        report("parse_previous_attempts reads something else");
    if (number) {
        asio_retry::attempt a;
        a.number = *number;
        if (asio_retry::parse_previous_attempts(asio_retry::previous_attempts(a)) != number)
            report("the number of an attempt that is written is not read");
    }

    auto const read = asio_retry::parse_attempt_histogram(text);
    auto const expected = reference_counts(text);
    if (read.has_value() != expected.has_value())
        report(expected ? "a histogram is not read" : "what is no histogram is read");
    if (read)
        check_histogram(*read, *expected);
    return 0;
}
