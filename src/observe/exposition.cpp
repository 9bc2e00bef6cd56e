#include "observe/exposition.hpp"

#include <charconv>
#include <cmath>
#include <iterator>

namespace asio_retry::detail {

void exposition::begin_family(std::string_view name, std::string_view type, std::string_view help) {
    if (!help.empty()) {
        text_.append("# HELP ").append(name).append(" ");
        for (char const c : help)
            if (c == '\n')
                text_ += "\\n";
            else
                text_.append(c == '\\' ? 2 : 1, c);
        text_ += '\n';
    }
    text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void exposition::sample(std::string_view name, std::uint64_t value, std::string_view labels) {
    line(name, labels, std::to_string(value));
}

void exposition::sample(std::string_view name, double value, std::string_view labels) {
    line(name, labels, number(value));
}

void exposition::line(std::string_view name, std::string_view labels, std::string_view value) {
    text_.append(name);
    if (!common_.empty() || !labels.empty()) {
        text_.append("{").append(common_);
        text_.append(!common_.empty() && !labels.empty() ? "," : "").append(labels).append("}");
    }
    text_.append(" ").append(value).append("\n");
}

std::string exposition::number(double value) {
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "+Inf" : "-Inf";
    // The shortest digits that name this value and no other, with an exponent where Prometheus' own libraries
    // write one: a bound is a label, and two programs should have the same.
    double const magnitude = std::abs(value);
    bool const is_plain = magnitude == 0 || (1e-4 <= magnitude && magnitude < 1e21);
    char text[32];
    return {text, std::to_chars(std::begin(text), std::end(text), value,
                                is_plain ? std::chars_format::fixed : std::chars_format::scientific)
                      .ptr};
}

} // namespace asio_retry::detail
