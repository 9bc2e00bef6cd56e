#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/policy/shared.hpp>

#include "policy/duration_text.hpp"

#include <charconv>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

namespace asio_retry::detail {
namespace {

/// The shortest digits that name this value and no other.
std::string shortest(double value) {
    char text[32];
    return std::string(text, std::to_chars(std::begin(text), std::end(text), value).ptr);
}

std::string naming(std::string_view rule, std::string_view other) {
    return std::string(rule).append(", which is ").append(other);
}

} // namespace

void refuse(std::string_view field, std::string_view value, std::string_view rule) {
    std::string message("asio_retry: ");
    message.append(field).append(" = ").append(value).append(": ").append(rule);
    throw std::invalid_argument(message);
}

void refuse(std::string_view field, duration value, std::string_view rule) {
    refuse(field, to_text(value), rule);
}

void refuse(std::string_view field, double value, std::string_view rule) {
    refuse(field, shortest(value), rule);
}

void refuse(std::string_view field, duration value, std::string_view rule, duration other) {
    refuse(field, value, naming(rule, to_text(other)));
}

void refuse(std::string_view field, double value, std::string_view rule, double other) {
    refuse(field, value, naming(rule, shortest(other)));
}

duration non_negative(std::string_view field, duration value) {
    if (value < duration::zero())
        refuse(field, value, "must not be negative");
    return value;
}

void refuse_empty(std::string_view field) {
    refuse(field, "empty", "must be a callable");
}

void throw_bad_function_call() {
    throw std::bad_function_call();
}

} // namespace asio_retry::detail
