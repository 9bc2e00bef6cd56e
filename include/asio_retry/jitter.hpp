#pragma once

#include <asio_retry/detail/config.hpp>
#include <asio_retry/detail/shared_function.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace asio_retry {

/// What a jitter may look at to draw the next delay.
struct backoff_step {
    std::uint64_t failures = 1;     ///< consecutive failures, the present one included
    duration ceiling{};             ///< what the backoff gives for them, the cap applied
    duration base{};                ///< what the backoff gives for the first failure
    duration cap = duration::max(); ///< the backoff's cap
    duration previous{};            ///< the delay drawn last; the base before there was one
};

class jitter;

/// A user's own jitter.
template <typename F>
concept jitter_function = !std::same_as<std::decay_t<F>, jitter> &&
                          std::is_invocable_r_v<duration, std::decay_t<F>&, backoff_step, random&>;

/// How a delay is drawn under the ceiling.
///
/// The built-in jitters draw from a range that the cap bounds, so no draw is pushed onto the cap and the cap is
/// as (un)likely as any other delay. An immutable value. Thread safety: const calls are safe from any number of
/// threads as long as a user's callable is.
class jitter {
public:
    /// What a user's callable returns is held in [0, cap].
    template <typename F>
        requires jitter_function<F>
    jitter(F&& user_jitter)
        : kind_(custom(std::forward<F>(user_jitter))) {}

    jitter(jitter const& other)
        : kind_(other.kind_) {}
    jitter& operator=(jitter const&) = default;
    ~jitter() = default;

    /// The delay to wait; 0 <= delay <= step.cap. Precondition: 0 <= step.base, step.ceiling <= step.cap.
    ASIO_RETRY_DECL duration draw(backoff_step const& step, random& source) const;

private:
    struct none {};
    struct full {};
    struct equal {};
    struct decorrelated {};
    struct proportional {
        double fraction;
    };
    using custom = detail::shared_function<duration(backoff_step, random&)>;
    using kind = std::variant<none, full, equal, decorrelated, proportional, custom>;

    struct built_in {};
    jitter(built_in, kind k)
        : kind_(std::move(k)) {}

    static duration draw_from(none, backoff_step const&, random&) noexcept;
    static duration draw_from(full, backoff_step const&, random&);
    static duration draw_from(equal, backoff_step const&, random&);
    static duration draw_from(decorrelated, backoff_step const&, random&);
    static duration draw_from(proportional, backoff_step const&, random&);
    static duration draw_from(custom const&, backoff_step const&, random&);

    friend ASIO_RETRY_DECL jitter no_jitter();
    friend ASIO_RETRY_DECL jitter full_jitter();
    friend ASIO_RETRY_DECL jitter equal_jitter();
    friend ASIO_RETRY_DECL jitter decorrelated_jitter();
    friend ASIO_RETRY_DECL jitter proportional_jitter(double fraction);

    kind kind_;
};

/// The ceiling itself.
ASIO_RETRY_DECL jitter no_jitter();

/// Uniform in [0, ceiling]. Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
ASIO_RETRY_DECL jitter full_jitter();

/// Uniform in [ceiling / 2, ceiling]. Source: as `full_jitter`.
ASIO_RETRY_DECL jitter equal_jitter();

/// Uniform in [base, min(cap, 3 * previous)], whatever the ceiling. Source: as `full_jitter`, which caps the
/// value drawn instead of the range and so returns the cap itself up to two times in three.
ASIO_RETRY_DECL jitter decorrelated_jitter();

/// Uniform in [ceiling * (1 - fraction), min(cap, ceiling * (1 + fraction))].
/// Throws std::invalid_argument if the fraction is not in [0, 1].
ASIO_RETRY_DECL jitter proportional_jitter(double fraction);

} // namespace asio_retry
