#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/shared.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// The facts from which a jitter draws the next delay.
struct backoff_step {
    std::uint64_t failures = 1; ///< consecutive failures, the present one included
    duration ceiling{};         ///< the delay that the backoff gives for them, with the cap applied
    duration base{};            ///< the first `ceiling` that was not zero; a later one if the cap fell to it
    duration cap = (duration::max)(); ///< the backoff's cap, or that of the part which gave the `ceiling`
    duration previous{};              ///< the delay drawn last; the base before there was one
};

/// The range from which delays are drawn uniformly, both ends included.
struct delay_range {
    duration least{};    ///< the shortest delay
    duration greatest{}; ///< the greatest delay
};

class backoff;
class jitter;

namespace detail {

enum class jitter_name : unsigned char {
    none,
    full,
    equal,
    decorrelated,
    proportional,
    additive,
    multiplicative,
    windowed,
    symmetric,
    uniform,
    log_normal, // from here on without a range
    decorrelated_v2,
    custom,
};

/// A kind of jitter, with its parameters. A kind uses those that its function takes.
struct jitter_kind {
    jitter_name name = jitter_name::none;
    double factor = 0;          ///< the `fraction`, the `sigma` or the `least` factor
    double greatest_factor = 0; ///< of `multiplicative`
    duration width{};           ///< the `greatest` to add, the `window`, or the `least` of `uniform`
    shared_function<saturating_duration(backoff_step, random&)> function{}; ///< of `custom`

    bool has_range() const noexcept { return name < jitter_name::log_normal; }

    /// The range of the delays, whose negative part is cut off, and whose end is at most the bound. One that
    /// only adds keeps its width there. Precondition: has_range().
    ASIO_RETRY_DECL delay_range range(backoff_step const& step, duration bound) const noexcept;

    /// Draws a delay. Precondition: it has no range.
    ASIO_RETRY_DECL duration draw(backoff_step const& step, random& source) const;
};

/// A delay of `decorrelated_jitter_v2`, from the draws u and v of [0, 1); the first failure has no v.
ASIO_RETRY_DECL duration decorrelated_delay(backoff_step const& step, double u, double v) noexcept;

} // namespace detail

/// Your own jitter: a callable `(backoff_step, random&) -> duration`.
template <typename F>
concept jitter_function =
    !std::same_as<std::decay_t<F>, jitter> && detail::returns_duration<std::decay_t<F>&, backoff_step, random&>;

/// How a delay is drawn at random, given the `ceiling`: the delay of the backoff.
///
/// A jitter is an immutable value: the setters return a changed copy. The backoff's cap bounds the range from
/// which the built-in jitters draw. So no draw is pushed onto the cap, and the cap is as likely as any other
/// delay. `log_normal_jitter` and `decorrelated_jitter_v2` have no range: a greater draw becomes the cap. `cap`
/// and `beyond_cap` make schemes that were published otherwise.
///
/// Thread safety: const calls are safe from any number of threads, provided that your callable is.
class [[nodiscard("keep the jitter that this returns: no jitter is changed in place")]] jitter {
public:
    /// Makes a jitter of your callable. A result above the cap becomes the cap.
    ///
    /// A negative result is refused: `draw` throws std::invalid_argument, which names the value. An operation
    /// then ends with error::jitter_threw, and that exception is in its report and in its log.
    ///
    /// Throws std::invalid_argument if the callable is an empty std::function or a null pointer.
    template <typename F>
        requires jitter_function<F>
    jitter(F&& user_jitter)
        : jitter(detail::jitter_kind{.name = detail::jitter_name::custom,
                                     .function = {"jitter", std::forward<F>(user_jitter)}}) {}

    /// For `full_jitter` and the other functions that make a jitter.
    ASIO_RETRY_DECL explicit jitter(detail::jitter_kind kind);

    /// Copies share your callable.
    ASIO_RETRY_DECL jitter(jitter const& other);
    /// An assignment shares your callable, too.
    ASIO_RETRY_DECL jitter& operator=(jitter const&);
    ASIO_RETRY_DECL ~jitter();

    /// Draws only whole multiples of `step`: seconds, or the slots of a network.
    ///
    /// The delay to draw is rounded into its range, or below it if the range has no multiple. Throws
    /// std::invalid_argument if not positive.
    ASIO_RETRY_DECL jitter unit(saturating_duration step) const;

    /// Bounds the delay after it was drawn: every greater draw becomes the cap itself.
    ///
    /// For schemes that are defined in this way, together with a backoff without a cap. Throws
    /// std::invalid_argument if negative.
    ASIO_RETRY_DECL jitter cap(saturating_duration greatest) const;

    /// Lets the cap of the backoff bound the `ceiling` alone: a drawn delay may be greater.
    ASIO_RETRY_DECL jitter beyond_cap() const;

    /// Draws no delay shorter than `least`, as far as the cap of the backoff allows.
    ///
    /// The range to draw from begins at `least`, so that no delay is likelier than others. If nothing is left
    /// of the range, or if the jitter has no range, a shorter delay becomes `least`. It is then rounded up to a
    /// multiple of the unit. The delay of `first_at_once` and a delay that `clamp` shortens are not drawn, and
    /// may be shorter.
    ///
    /// Throws std::invalid_argument if negative or above `cap`; `cap` throws if it is below `least`.
    ASIO_RETRY_DECL jitter at_least(saturating_duration least) const;

    /// Draws the delay to wait: at least 0, and at most step.cap unless this is a jitter `beyond_cap`.
    ///
    /// Precondition: `0 <= step.base`, `step.ceiling <= step.cap`.
    ASIO_RETRY_DECL duration draw(backoff_step const& step, random& source) const;

    /// The range from which `draw` draws uniformly, before `cap`; none if it does not.
    ASIO_RETRY_DECL std::optional<delay_range> range(backoff_step const& step) const;

    /// The unit of the delays: 1 ns unless `unit` was called.
    duration unit() const noexcept { return unit_; }
    /// The shortest delay to draw: zero unless `at_least` was called.
    duration at_least() const noexcept { return least_; }
    /// The bound of drawn delays: duration::max() unless `cap` was called.
    duration cap() const noexcept { return cap_; }
    /// Whether `beyond_cap` was called: a drawn delay may then exceed the cap of the backoff.
    bool is_beyond_cap() const noexcept { return beyond_cap_; }

    /// The kind and its parameters, for `to_string`.
    detail::jitter_kind const& kind() const noexcept { return kind_; }

private:
    duration bound(backoff_step const& step) const noexcept;
    duration least_draw(backoff_step const& step) const noexcept;
    delay_range within_unit(delay_range const& range) const noexcept;

    detail::jitter_kind kind_;
    duration unit_ = duration(1);
    duration least_{};
    duration cap_ = (duration::max)();
    bool beyond_cap_ = false;
};

namespace detail {

/// The values that a jitter keeps from one failure to the next.
class jitter_course {
public:
    /// The step after that many failures; the first failure begins anew. The base is the first greatest delay
    /// that is not zero: one retry at once does not make all retries immediate. If the cap leaves nothing above
    /// the base, a lower base replaces it; that happens where a chain goes on to its next part.
    ASIO_RETRY_DECL backoff_step step(backoff const& shape, std::uint64_t failures, duration ceiling) noexcept;

    /// The delay that was drawn for that step.
    void drew(duration delay) noexcept { previous_ = delay; }

private:
    duration base_{};
    duration previous_{};
};

} // namespace detail

/// No randomness: the `ceiling` itself.
ASIO_RETRY_DECL jitter no_jitter();

/// Uniform in `[0, ceiling]`.
///
/// Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
ASIO_RETRY_DECL jitter full_jitter();

/// Uniform in `[ceiling / 2, ceiling]`.
///
/// Source: as `full_jitter`.
ASIO_RETRY_DECL jitter equal_jitter();

/// Uniform in `[base, min(cap, 3 * previous)]`: grows with the delay drawn before, whatever the `ceiling`.
///
/// It begins with the first failure whose `ceiling` is not zero; before that there is no delay. If the cap
/// falls to the base, as in a part of a chain, base and previous begin anew with the `ceiling` there.
///
/// Source: as `full_jitter`. That source caps the drawn value instead of the range, and so returns the cap
/// itself up to two times in three. To get that, use `decorrelated_jitter().cap(greatest)` with a backoff
/// without a cap.
ASIO_RETRY_DECL jitter decorrelated_jitter();

/// Uniform in `[ceiling * (1 - fraction), ceiling * (1 + fraction)]`.
///
/// Throws std::invalid_argument if the fraction is not in [0, 1].
ASIO_RETRY_DECL jitter proportional_jitter(double fraction);

/// Uniform in `[ceiling, ceiling + greatest]`. Where the cap is lower than that, in `[cap - greatest, cap]`.
///
/// Throws std::invalid_argument if negative.
ASIO_RETRY_DECL jitter additive_jitter(saturating_duration greatest);

/// Uniform in `[ceiling * least, ceiling * greatest]`.
///
/// With a `least` of at least 1 it only adds. Then the range keeps its width where it would pass the cap: it
/// ends at the cap. With a lower `least` the cap cuts the range off.
///
/// Throws std::invalid_argument unless 0 <= least <= greatest and both are finite.
ASIO_RETRY_DECL jitter multiplicative_jitter(double least, double greatest);

/// Uniform in `[ceiling - window, ceiling]`, so that delays still differ at the cap.
///
/// It draws from 0 if the `ceiling` is lower than the window. Throws std::invalid_argument if negative.
ASIO_RETRY_DECL jitter windowed_jitter(saturating_duration window);

/// Uniform in `[ceiling - window, ceiling + window]`.
///
/// It draws from 0 if the `ceiling` is lower than the window. Throws std::invalid_argument if negative.
ASIO_RETRY_DECL jitter symmetric_jitter(saturating_duration window);

/// Uniform in `[least, ceiling]`: a full jitter without the shortest delays.
///
/// If the `ceiling` is lower than `least`, the delay is the `ceiling`; with `full_jitter().at_least(least)` it
/// is `least`. Throws std::invalid_argument if negative.
ASIO_RETRY_DECL jitter uniform_jitter(saturating_duration least);

/// `ceiling * exp(sigma * n)`, n normal with mean 0 and variance 1, and never above the cap.
///
/// The `ceiling` is the median. Throws std::invalid_argument unless sigma is finite and at least 0.
ASIO_RETRY_DECL jitter log_normal_jitter(double sigma);

/// The jitter of Polly's `DecorrelatedJitterBackoffV2`, whatever the `ceiling`, and never above the cap.
///
/// `base * (s(n + u) - s(n - 1 + v)) / 1.4` with s(t) = 2^t * tanh(sqrt(4 * t)) and s = 0 where n is 0. n is
/// the number of failures before this one; u and v are uniform in [0, 1). A failure with a `ceiling` of zero at
/// the beginning counts, but has no delay.
///
/// Source: Polly, `DecorrelatedJitterBackoffV2`, where v is the u of the delay before. Each delay has the same
/// distribution here, but does not depend on the delay before.
ASIO_RETRY_DECL jitter decorrelated_jitter_v2();

} // namespace asio_retry
