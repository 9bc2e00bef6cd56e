#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/jitter.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

namespace asio_retry::detail {

/// A parameter of the function that makes an `Owner`: its name, and the member that keeps the argument. Both
/// the writer and the reader of policy text use these.
template <typename Owner, typename Value>
struct named_parameter {
    std::string_view name;
    Value Owner::* member;
    bool is_optional = false;
};

template <typename Owner, typename Value>
named_parameter(std::string_view, Value Owner::*, bool = false) -> named_parameter<Owner, Value>;

/// The names of the kinds, in their order.
inline constexpr std::array<std::string_view, 11> backoff_names = {
    "constant",   "linear",    "exponential",      "stepwise_exponential",
    "polynomial", "fibonacci", "truncated_binary", "slotted_binary",
    "schedule",   "chained",   "custom_backoff"};
inline constexpr std::array<std::string_view, 13> jitter_names = {
    "no_jitter",           "full_jitter",     "equal_jitter",          "decorrelated_jitter",
    "proportional_jitter", "additive_jitter", "multiplicative_jitter", "windowed_jitter",
    "symmetric_jitter",    "uniform_jitter",  "log_normal_jitter",     "decorrelated_jitter_v2",
    "custom_jitter"};

constexpr std::string_view name_of(backoff_kind kind) {
    return backoff_names[static_cast<std::size_t>(kind)];
}
constexpr std::string_view name_of(jitter_name kind) {
    return jitter_names[static_cast<std::size_t>(kind)];
}

/// The parameters of the function that makes a backoff or a jitter of that kind, in order.
template <auto Kind>
inline constexpr std::tuple<> parameters_of;

template <>
inline constexpr std::tuple parameters_of<backoff_kind::constant>{
    named_parameter{"value", &backoff_shape::base}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::linear>{
    named_parameter{"initial", &backoff_shape::base}, named_parameter{"step", &backoff_shape::step}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::exponential>{
    named_parameter{"base", &backoff_shape::base}, named_parameter{"factor", &backoff_shape::factor, true}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::stepwise_exponential>{
    named_parameter{"base", &backoff_shape::base}, named_parameter{"factor", &backoff_shape::factor},
    named_parameter{"greatest", &backoff_shape::greatest}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::polynomial>{
    named_parameter{"base", &backoff_shape::base}, named_parameter{"exponent", &backoff_shape::count}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::fibonacci>{
    named_parameter{"base", &backoff_shape::base}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::truncated_binary>{
    named_parameter{"growing_failures", &backoff_shape::count},
    named_parameter{"greatest", &backoff_shape::greatest}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::slotted_binary>{
    named_parameter{"slot", &backoff_shape::base},
    named_parameter{"greatest_exponent", &backoff_shape::count, true}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::schedule>{named_parameter{"", &backoff_shape::delays}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::chained>{
    named_parameter{"first", &backoff_shape::first}, named_parameter{"failures", &backoff_shape::count},
    named_parameter{"then", &backoff_shape::then}};

template <>
inline constexpr std::tuple parameters_of<backoff_kind::custom>{
    named_parameter{"function", &backoff_shape::function}};

template <>
inline constexpr std::tuple parameters_of<jitter_name::proportional>{
    named_parameter{"fraction", &jitter_kind::factor}};

template <>
inline constexpr std::tuple parameters_of<jitter_name::additive>{
    named_parameter{"greatest", &jitter_kind::width}};

template <>
inline constexpr std::tuple parameters_of<jitter_name::multiplicative>{
    named_parameter{"least", &jitter_kind::factor}, named_parameter{"greatest", &jitter_kind::greatest_factor}};

template <>
inline constexpr std::tuple parameters_of<jitter_name::windowed>{
    named_parameter{"window", &jitter_kind::width}};

template <>
inline constexpr std::tuple parameters_of<jitter_name::symmetric>{
    named_parameter{"window", &jitter_kind::width}};

template <>
inline constexpr std::tuple parameters_of<jitter_name::uniform>{named_parameter{"least", &jitter_kind::width}};

template <>
inline constexpr std::tuple parameters_of<jitter_name::log_normal>{
    named_parameter{"sigma", &jitter_kind::factor}};

template <>
inline constexpr std::tuple parameters_of<jitter_name::custom>{
    named_parameter{"function", &jitter_kind::function}};

} // namespace asio_retry::detail
