#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_retry {

struct metric_label;

namespace detail {

/// Writes Prometheus' text exposition format, version 0.0.4, line by line.
class ASIO_RETRY_DECL exposition {
public:
    /// `common`: the labels of every sample, as `checked_labels` returns them.
    explicit exposition(std::string common)
        : common_(std::move(common)) {}

    /// Writes the lines before the samples of a family. `help` may be empty.
    void begin_family(std::string_view name, std::string_view type, std::string_view help);

    void sample(std::string_view name, std::uint64_t value, std::string_view labels = {});
    void sample(std::string_view name, double value, std::string_view labels = {});

    std::string take() && { return std::move(text_); }

    static std::string number(double value);

private:
    void line(std::string_view name, std::string_view labels, std::string_view value);

    std::string common_;
    std::string text_;
};

ASIO_RETRY_DECL bool is_metric_name(std::string_view name) noexcept;

/// Labels as they are written, and their names.
struct label_text {
    std::string text;
    std::vector<std::string> names;
};

/// Returns labels with all special characters escaped. Throws std::invalid_argument unless `given` is
/// name="value" pairs with commas between them; each name must be valid, not reserved, and given once.
ASIO_RETRY_DECL label_text checked_labels(std::string_view given);

/// Returns the labels of a gauge, escaped and in the order of their names: equal texts are one series. Leaves
/// out labels without a value, as Prometheus does. Bytes that are no UTF-8 become U+FFFD.
ASIO_RETRY_DECL label_text gauge_labels(std::span<metric_label const> given);

} // namespace detail
} // namespace asio_retry
