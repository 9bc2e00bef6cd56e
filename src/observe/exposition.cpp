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
    char text[32]; // the shortest digits that name this value and no other
    return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

} // namespace asio_retry::detail
