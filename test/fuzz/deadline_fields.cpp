#include <asio_retry/deadline_fields.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <regex>
#include <string>

// What a peer writes into the fields of deadline_fields.hpp, against their grammar as a regular expression and
// arithmetic in 128 bits; and what is written for any deadline, read by the same reference.

namespace {

using asio_retry::duration;
using asio_retry::time_point;
__extension__ using wide = __int128;

constexpr wide greatest = INT64_MAX;

[[noreturn]] void report(std::string const& fault) {
    std::fprintf(stderr, "deadline_fields: %s\n", fault.c_str());
    std::abort();
}

wide number_in(std::string const& digits) {
    wide number = 0;
    for (char const c : digits)
        number = std::min(greatest, number * 10 + (c - '0'));
    return number;
}

wide unit_of(char letter) {
    switch (letter) {
    case 'H':
        return wide(3600) * 1'000'000'000;
    case 'M':
        return wide(60) * 1'000'000'000;
    case 'S':
        return 1'000'000'000;
    case 'm':
        return 1'000'000;
    case 'u':
        return 1000;
    default:
        return 1;
    }
}

std::optional<wide> reference_grpc(std::string const& text) {
    static std::regex const grammar("([0-9]{1,8})([HMSmun])");
    std::smatch parts;
    if (!std::regex_match(text, parts, grammar))
        return std::nullopt;
    return std::min(greatest, number_in(parts[1]) * unit_of(*parts[2].first));
}

std::optional<wide> reference_ms(std::string const& text) {
    static std::regex const grammar("([0-9]+)");
    std::smatch parts;
    if (!std::regex_match(text, parts, grammar))
        return std::nullopt;
    return std::min(greatest, number_in(parts[1]) * 1'000'000);
}

std::optional<wide> in_wide(std::optional<duration> read) {
    return read ? std::optional<wide>(read->count()) : std::nullopt;
}

void check_written(std::optional<wide> said, wide left, wide loss, char const* what) {
    if (!said)
        report(std::string(what) + " writes what has another form");
    if (*said > left)
        report(std::string(what) + " extends");
    if (*said != std::min(greatest, left) && left - *said > loss)
        report(std::string(what) + " shortens");
}

void check_writers(time_point deadline, time_point now, duration margin) {
    std::string const grpc = asio_retry::to_grpc_timeout(deadline, now, margin),
                      ms = asio_retry::to_timeout_ms(deadline, now, margin);
    if (deadline == time_point::max()) {
        if (!grpc.empty() || !ms.empty())
            report("no deadline is written");
        return;
    }
    wide const whole = wide(deadline.time_since_epoch().count()) - now.time_since_epoch().count();
    wide const left = std::max(wide(0), std::min(greatest, whole) - margin.count());
    check_written(reference_grpc(grpc), left, left / 100'000, "to_grpc_timeout");
    check_written(reference_ms(ms), left, 999'999, "to_timeout_ms");
}

class bytes {
public:
    bytes(std::uint8_t const* data, std::size_t size)
        : data_(data)
        , size_(size) {}

    std::int64_t number() {
        std::uint64_t bits = 0;
        for (int i = 0; i != 8 && size_ != 0; ++i, ++data_, --size_)
            bits = bits << 8 | *data_;
        return static_cast<std::int64_t>(bits);
    }

    std::string rest() const { return {reinterpret_cast<char const*>(data_), size_}; }

private:
    std::uint8_t const* data_;
    std::size_t size_;
};

} // namespace

/// libFuzzer's entry: three numbers of eight bytes are a deadline, the time and a margin, the rest is what a
/// peer says.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    bytes input(data, size);
    time_point const deadline{duration(input.number())}, now{duration(input.number())};
    check_writers(deadline, now, duration(input.number() & INT64_MAX));

    std::string const text = input.rest();
    if (in_wide(asio_retry::parse_grpc_timeout(text)) != reference_grpc(text))
        report("parse_grpc_timeout reads something else");
    if (in_wide(asio_retry::parse_timeout_ms(text)) != reference_ms(text))
        report("parse_timeout_ms reads something else");
    return 0;
}
