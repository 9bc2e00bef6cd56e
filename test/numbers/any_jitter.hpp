#pragma once

#include "numbers/whole_range.hpp"
#include "support/plain_jitters.hpp"

#include <asio_retry/jitter.hpp>

#include <rapidcheck.h>

#include <ostream>

namespace asio_retry::test {

/// What a jitter is made from.
struct jitter_fields {
    enum class kind { none, full, equal, decorrelated, proportional };

    kind what = kind::none;
    double fraction = 0;

    jitter build() const {
        return what == kind::proportional ? proportional_jitter(fraction)
                                          : plain_jitter(static_cast<int>(what));
    }
};

inline std::ostream& operator<<(std::ostream& out, jitter_fields const& j) {
    constexpr char const* names[] = {"no_jitter()", "full_jitter()", "equal_jitter()", "decorrelated_jitter()"};
    if (j.what != jitter_fields::kind::proportional)
        return out << names[static_cast<int>(j.what)];
    out.precision(17);
    return out << "proportional_jitter(" << j.fraction << ")";
}

inline rc::Gen<double> any_fraction() {
    auto const usual =
        rc::gen::map(between<std::uint64_t>(0, 1000), [](std::uint64_t n) { return double(n) / 1000; });
    return rc::gen::oneOf(usual, rc::gen::suchThat(any_double(), [](double f) { return f >= 0 && f <= 1; }));
}

inline rc::Gen<jitter_fields> any_jitter() {
    using kind = jitter_fields::kind;
    return rc::gen::apply([](kind what, double fraction) { return jitter_fields{what, fraction}; },
                          rc::gen::element(kind::none, kind::full, kind::equal, kind::decorrelated,
                                           kind::proportional, kind::proportional),
                          any_fraction());
}

} // namespace asio_retry::test
