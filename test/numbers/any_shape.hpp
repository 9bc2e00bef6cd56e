#pragma once

#include "numbers/whole_range.hpp"

#include <asio_retry/backoff.hpp>

#include <rapidcheck.h>

#include <cstdint>
#include <optional>
#include <ostream>

namespace asio_retry::test {

/// What a backoff is made from.
struct shape_fields {
    enum class kind { constant, linear, exponential, truncated_binary };

    kind what = kind::constant;
    std::int64_t first = 0;  ///< the value, initial delay, base, or T of the truncated binary shape
    std::int64_t second = 1; ///< the step of the linear shape, N of the truncated binary one
    double factor = 1;
    std::optional<std::int64_t> cap;

    std::int64_t base() const {
        if (what != kind::truncated_binary)
            return first;
        return second > 63 ? 0 : first >> (second - 1);
    }

    duration greatest() const { return cap ? duration(*cap) : duration::max(); }

    backoff uncapped() const {
        switch (what) {
        case kind::constant:
            return constant(duration(first));
        case kind::linear:
            return linear(duration(first), duration(second));
        case kind::exponential:
            return exponential(duration(first), factor);
        case kind::truncated_binary:
            break;
        }
        return truncated_binary(second, duration(first));
    }

    backoff build() const { return cap ? uncapped().cap(duration(*cap)) : uncapped(); }
};

inline std::ostream& operator<<(std::ostream& out, shape_fields const& s) {
    out.precision(17);
    switch (s.what) {
    case shape_fields::kind::constant:
        out << "constant(" << s.first << "ns)";
        break;
    case shape_fields::kind::linear:
        out << "linear(" << s.first << "ns, " << s.second << "ns)";
        break;
    case shape_fields::kind::exponential:
        out << "exponential(" << s.first << "ns, " << s.factor << ")";
        break;
    case shape_fields::kind::truncated_binary:
        out << "truncated_binary(" << s.second << ", " << s.first << "ns)";
        break;
    }
    if (s.cap)
        out << ".cap(" << *s.cap << "ns)";
    return out;
}

/// Every shape with every value of every field that it accepts, with and without a cap.
inline rc::Gen<shape_fields> any_shape() {
    using kind = shape_fields::kind;
    return rc::gen::apply(
        [](kind what, std::int64_t first, std::int64_t second, double factor, bool is_capped,
           std::int64_t cap) {
            shape_fields s{what, first, second, factor, std::nullopt};
            if (what == kind::truncated_binary && second == 0)
                s.second = 1;
            if (is_capped)
                s.cap = std::max(cap, s.base());
            return s;
        },
        rc::gen::element(kind::constant, kind::linear, kind::exponential, kind::exponential,
                         kind::truncated_binary),
        non_negative_nanoseconds(), rc::gen::oneOf(non_negative_nanoseconds(), between<std::int64_t>(1, 70)),
        any_factor(), rc::gen::arbitrary<bool>(), non_negative_nanoseconds());
}

} // namespace asio_retry::test
