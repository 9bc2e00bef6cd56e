#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace asio_retry::detail {

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
/// The number of bytes of the first character; 0 if it is not UTF-8 (RFC 3629, section 4).
ASIO_RETRY_DECL std::size_t length_of_first_character(std::string_view text) noexcept;
ASIO_RETRY_DECL bool is_utf_8(std::string_view text) noexcept;

/// Returns labels with all special characters escaped. Throws std::invalid_argument unless `given` is
/// name="value" pairs with commas between them; each name must be valid, not reserved, and given once.
ASIO_RETRY_DECL std::string checked_labels(std::string_view given);

} // namespace asio_retry::detail
