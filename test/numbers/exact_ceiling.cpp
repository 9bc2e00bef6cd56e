#include "numbers/exact_ceiling.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <cmath>

namespace asio_retry::test {
namespace {

namespace mp = boost::multiprecision;
using real = mp::number<mp::cpp_bin_float<256, mp::digit_base_2>, mp::et_off>;

/// No duration is as long, and what is multiplied by 1 or more stays as long.
real beyond_all_durations() {
    return mp::ldexp(real(1), 128);
}

real power(real factor, std::uint64_t exponent) {
    real result = 1;
    while (exponent != 0) {
        if (exponent % 2 == 1)
            result = std::min<real>(result * factor, beyond_all_durations());
        factor = std::min<real>(factor * factor, beyond_all_durations());
        exponent /= 2;
    }
    return result;
}

duration held(real const& count, duration cap) {
    return count < cap.count() ? duration(static_cast<std::int64_t>(mp::floor(count))) : cap;
}

allowed_ceilings exponential_ceiling(shape_fields const& s, std::uint64_t failures) {
    real const exact = real(s.first) * power(real(s.factor), failures - 1);
    real const error = s.factor == std::floor(s.factor) ? real(0) : exact * mp::ldexp(real(failures), -63);
    real const half = real(1) / 2;
    return {held(std::max<real>(exact - error + half, 0), s.greatest()),
            held(exact + error + half, s.greatest())};
}

real other_ceiling(shape_fields const& s, std::uint64_t failures) {
    switch (s.what) {
    case shape_fields::kind::exponential: // never
    case shape_fields::kind::constant:
        break;
    case shape_fields::kind::linear:
        return real(s.first) + real(s.second) * (real(failures) - 1);
    case shape_fields::kind::truncated_binary: {
        auto const growing = static_cast<std::uint64_t>(s.second);
        std::uint64_t const halvings = growing - std::min(failures, growing);
        return mp::ldexp(real(s.first), -static_cast<int>(std::min<std::uint64_t>(halvings, 200)));
    }
    }
    return real(s.first);
}

} // namespace

allowed_ceilings exact_ceiling(shape_fields const& shape, std::uint64_t failures) {
    if (shape.what == shape_fields::kind::exponential)
        return exponential_ceiling(shape, failures);
    duration const only = held(other_ceiling(shape, failures), shape.greatest());
    return {only, only};
}

} // namespace asio_retry::test
