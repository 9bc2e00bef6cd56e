#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/jitter_kinds.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// What a jitter may look at to draw the next delay.
struct backoff_step {
    std::uint64_t failures = 1; ///< consecutive failures, the present one included
    duration ceiling{};         ///< what the backoff gives for them, the cap applied
    duration base{};            ///< the first ceiling that was not zero; a later one if the cap fell to it
    duration cap = (duration::max)(); ///< the backoff's cap, or that of the part which made the ceiling
    duration previous{};              ///< the delay drawn last; the base before there was one
};

/// From which delays are drawn uniformly, both ends included.
struct delay_range {
    duration least{};    ///< the shortest delay
    duration greatest{}; ///< the longest delay
};

class jitter;

/// A user's own jitter.
template <typename F>
concept jitter_function =
    !std::same_as<std::decay_t<F>, jitter> && detail::returns_duration<std::decay_t<F>&, backoff_step, random&>;

/// How a delay is drawn under the ceiling.
///
/// The built-in jitters that have a range draw from one that the backoff's cap bounds, so no draw is pushed
/// onto the cap and the cap is as (un)likely as any other delay. Of `log_normal_jitter` and
/// `decorrelated_jitter_v2`, which have none, what is drawn above the cap becomes the cap. Schemes that were
/// published otherwise are made by `cap` and `beyond_cap`. An immutable value: the setters return a changed
/// copy. Thread safety: const calls are safe from any number of threads as long as a user's callable is.
class [[nodiscard("a jitter is never changed: its setters return a changed copy")]] jitter {
public:
    /// What a user's callable returns is held in [0, cap]. Throws std::invalid_argument if it is empty, as a
    /// std::function or a pointer may be.
    template <typename F>
        requires jitter_function<F>
    jitter(F&& user_jitter)
        : jitter(detail::custom_jitter_kind{{"jitter", std::forward<F>(user_jitter)}}) {}

    /// For the functions below.
    ASIO_RETRY_DECL explicit jitter(detail::jitter_kind kind);
    /// The same.
    ASIO_RETRY_DECL explicit jitter(detail::custom_jitter_kind kind);

    /// Copies share a user's callable.
    ASIO_RETRY_DECL jitter(jitter const& other);
    /// The same.
    ASIO_RETRY_DECL jitter& operator=(jitter const&);
    ASIO_RETRY_DECL ~jitter();

    /// Draws whole multiples of `step` only: seconds, or the slots of a network. What is to be drawn is rounded
    /// into its range, or below where the range has no multiple. Throws std::invalid_argument if not positive.
    ASIO_RETRY_DECL jitter unit(saturating_duration step) const;

    /// Bounds the delay after it has been drawn: all that is drawn above it becomes the cap itself. For schemes
    /// that are so defined, together with a backoff without a cap. Throws std::invalid_argument if negative.
    ASIO_RETRY_DECL jitter cap(saturating_duration greatest) const;

    /// The cap of the backoff bounds the ceiling alone: what is drawn may lie above.
    ASIO_RETRY_DECL jitter beyond_cap() const;

    /// No delay that is drawn is shorter, as far as the cap of the backoff allows; not drawn are that of
    /// `first_at_once` and what `clamp` shortens. The
    /// range to draw from begins there, so that no delay is likelier than others; where nothing is left of it,
    /// and where a jitter has no range, what is shorter becomes `least`, rounded up to a multiple of the unit.
    /// Throws std::invalid_argument if negative or above `cap`, which throws if it is given below.
    ASIO_RETRY_DECL jitter at_least(saturating_duration least) const;

    /// The delay to wait; at least 0, and at most step.cap unless this is a jitter `beyond_cap`. Precondition:
    /// 0 <= step.base, step.ceiling <= step.cap.
    ASIO_RETRY_DECL duration draw(backoff_step const& step, random& source) const;

    /// From where `draw` draws uniformly, before `cap`; none for a jitter that does not.
    ASIO_RETRY_DECL std::optional<delay_range> range(backoff_step const& step) const;

    /// 1 ns unless `unit` was called.
    duration unit() const noexcept { return unit_; }
    /// Zero unless `at_least` was called.
    duration at_least() const noexcept { return least_; }
    /// duration::max() unless `cap` was called.
    duration cap() const noexcept { return cap_; }
    /// Whether `beyond_cap` was called.
    bool is_beyond_cap() const noexcept { return beyond_cap_; }

    /// For `to_string`.
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

/// The ceiling itself.
ASIO_RETRY_DECL jitter no_jitter();

/// Uniform in [0, ceiling]. Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
ASIO_RETRY_DECL jitter full_jitter();

/// Uniform in [ceiling / 2, ceiling]. Source: as `full_jitter`.
ASIO_RETRY_DECL jitter equal_jitter();

/// Uniform in [base, min(cap, 3 * previous)], whatever the ceiling, from the first failure on whose ceiling is
/// not zero; before, no delay. Where the cap falls to the base, as in a part of a chain, base and previous
/// begin anew with the ceiling there. Source: as `full_jitter`, which caps the value drawn instead of the range
/// and so returns the cap itself up to two times in three: that is `decorrelated_jitter().cap(greatest)`, with
/// a backoff without a cap.
ASIO_RETRY_DECL jitter decorrelated_jitter();

/// Uniform in [ceiling * (1 - fraction), ceiling * (1 + fraction)].
/// Throws std::invalid_argument if the fraction is not in [0, 1].
ASIO_RETRY_DECL jitter proportional_jitter(double fraction);

/// Uniform in [ceiling, ceiling + greatest]. Throws std::invalid_argument if negative.
ASIO_RETRY_DECL jitter additive_jitter(saturating_duration greatest);

/// Uniform in [ceiling * least, ceiling * greatest]. Throws std::invalid_argument unless 0 <= least <= greatest
/// and both are finite.
ASIO_RETRY_DECL jitter multiplicative_jitter(double least, double greatest);

/// Uniform in [ceiling - window, ceiling], so that something is left to draw at the cap; from 0 where the
/// ceiling is lower than the window. Throws std::invalid_argument if negative.
ASIO_RETRY_DECL jitter windowed_jitter(saturating_duration window);

/// Uniform in [ceiling - window, ceiling + window]; from 0 where the ceiling is lower than the window. Throws
/// std::invalid_argument if negative.
ASIO_RETRY_DECL jitter symmetric_jitter(saturating_duration window);

/// Uniform in [least, ceiling]: a full jitter without the shortest delays. The ceiling itself where that is
/// lower than `least`; `full_jitter().at_least(least)` waits for `least` there. Throws std::invalid_argument if
/// negative.
ASIO_RETRY_DECL jitter uniform_jitter(saturating_duration least);

/// `ceiling * exp(sigma * n)`, n normal with mean 0 and variance 1, and never above the cap: the ceiling is the
/// median. Throws std::invalid_argument unless sigma is finite and at least 0.
ASIO_RETRY_DECL jitter log_normal_jitter(double sigma);

/// `base * (s(n + u) - s(n - 1 + v)) / 1.4` with s(t) = 2^t * tanh(sqrt(4 * t)), n the failures before this
/// one, u and v uniform in [0, 1), and s = 0 where n is 0; whatever the ceiling, and never above the cap. A
/// failure with a ceiling of zero at first counts, but has no delay.
/// Source: Polly, `DecorrelatedJitterBackoffV2`, where v is the u of the delay before: each delay has the same
/// law here, but does not depend on that one.
ASIO_RETRY_DECL jitter decorrelated_jitter_v2();

} // namespace asio_retry
