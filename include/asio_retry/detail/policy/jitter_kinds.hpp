#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/shared_function.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>

#include <string_view>
#include <variant>

namespace asio_retry {
struct backoff_step;
struct delay_range;
} // namespace asio_retry

namespace asio_retry::detail {

// Each kind gives the range of its delays, whose negative part is cut off, or draws one itself. A kind that
// only adds gives the width of its range, which it keeps at the cap.

struct no_jitter_kind {
    static constexpr std::string_view name = "no_jitter";
    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
};

struct full_jitter_kind {
    static constexpr std::string_view name = "full_jitter";
    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
};

struct equal_jitter_kind {
    static constexpr std::string_view name = "equal_jitter";
    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
};

struct decorrelated_jitter_kind {
    static constexpr std::string_view name = "decorrelated_jitter";
    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
};

struct proportional_jitter_kind {
    static constexpr std::string_view name = "proportional_jitter";
    double fraction;

    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
};

struct additive_jitter_kind {
    static constexpr std::string_view name = "additive_jitter";
    duration greatest;

    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
    duration added_width(backoff_step const&) const noexcept { return greatest; }
};

struct multiplicative_jitter_kind {
    static constexpr std::string_view name = "multiplicative_jitter";
    double least, greatest;

    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
    ASIO_RETRY_DECL duration added_width(backoff_step const& step) const noexcept; ///< zero below a least of 1
};

struct windowed_jitter_kind {
    static constexpr std::string_view name = "windowed_jitter";
    duration window;

    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
};

struct symmetric_jitter_kind {
    static constexpr std::string_view name = "symmetric_jitter";
    duration window;

    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
};

struct uniform_jitter_kind {
    static constexpr std::string_view name = "uniform_jitter";
    duration least;

    ASIO_RETRY_DECL delay_range range(backoff_step const& step) const noexcept;
};

struct log_normal_jitter_kind {
    static constexpr std::string_view name = "log_normal_jitter";
    double sigma;

    ASIO_RETRY_DECL duration draw(backoff_step const& step, random& source) const;
};

struct decorrelated_jitter_v2_kind {
    static constexpr std::string_view name = "decorrelated_jitter_v2";
    /// What the draws u and v of [0, 1) give; the first failure has no v.
    ASIO_RETRY_DECL duration delay(backoff_step const& step, double u, double v) const noexcept;
    ASIO_RETRY_DECL duration draw(backoff_step const& step, random& source) const;
};

struct custom_jitter_kind {
    static constexpr std::string_view name = "custom_jitter";
    shared_function<saturating_duration(backoff_step, random&)> function;

    ASIO_RETRY_DECL duration draw(backoff_step const& step, random& source) const;
};

using jitter_kind = std::variant<no_jitter_kind, full_jitter_kind, equal_jitter_kind, decorrelated_jitter_kind,
                                 proportional_jitter_kind, additive_jitter_kind, multiplicative_jitter_kind,
                                 windowed_jitter_kind, symmetric_jitter_kind, uniform_jitter_kind,
                                 log_normal_jitter_kind, decorrelated_jitter_v2_kind, custom_jitter_kind>;

} // namespace asio_retry::detail
