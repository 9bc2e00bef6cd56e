#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/jitter.hpp>

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

/// The parameters of the function that makes a backoff or a jitter, in order.
template <typename Kind>
inline constexpr std::tuple<> parameters_of;

template <>
inline constexpr std::tuple parameters_of<constant_shape>{named_parameter{"value", &constant_shape::value}};

template <>
inline constexpr std::tuple parameters_of<linear_shape>{named_parameter{"initial", &linear_shape::initial},
                                                        named_parameter{"step", &linear_shape::step}};

template <>
inline constexpr std::tuple parameters_of<exponential_shape>{
    named_parameter{"base", &exponential_shape::base},
    named_parameter{"factor", &exponential_shape::factor, true}};

template <>
inline constexpr std::tuple parameters_of<stepwise_exponential_shape>{
    named_parameter{"base", &stepwise_exponential_shape::base},
    named_parameter{"factor", &stepwise_exponential_shape::factor},
    named_parameter{"greatest", &stepwise_exponential_shape::greatest}};

template <>
inline constexpr std::tuple parameters_of<polynomial_shape>{
    named_parameter{"base", &polynomial_shape::base}, named_parameter{"exponent", &polynomial_shape::exponent}};

template <>
inline constexpr std::tuple parameters_of<fibonacci_shape>{named_parameter{"base", &fibonacci_shape::base}};

template <>
inline constexpr std::tuple parameters_of<truncated_binary_shape>{
    named_parameter{"growing_failures", &truncated_binary_shape::growing_failures},
    named_parameter{"greatest", &truncated_binary_shape::greatest}};

template <>
inline constexpr std::tuple parameters_of<slotted_binary_shape>{
    named_parameter{"slot", &slotted_binary_shape::slot},
    named_parameter{"greatest_exponent", &slotted_binary_shape::greatest_exponent, true}};

template <>
inline constexpr std::tuple parameters_of<schedule_shape>{named_parameter{"", &schedule_shape::delays}};

template <>
inline constexpr std::tuple parameters_of<chained_shape>{named_parameter{"first", &chained_shape::first},
                                                         named_parameter{"failures", &chained_shape::failures},
                                                         named_parameter{"then", &chained_shape::then}};

template <>
inline constexpr std::tuple parameters_of<custom_shape>{named_parameter{"function", &custom_shape::function}};

template <>
inline constexpr std::tuple parameters_of<proportional_jitter_kind>{
    named_parameter{"fraction", &proportional_jitter_kind::fraction}};

template <>
inline constexpr std::tuple parameters_of<additive_jitter_kind>{
    named_parameter{"greatest", &additive_jitter_kind::greatest}};

template <>
inline constexpr std::tuple parameters_of<multiplicative_jitter_kind>{
    named_parameter{"least", &multiplicative_jitter_kind::least},
    named_parameter{"greatest", &multiplicative_jitter_kind::greatest}};

template <>
inline constexpr std::tuple parameters_of<windowed_jitter_kind>{
    named_parameter{"window", &windowed_jitter_kind::window}};

template <>
inline constexpr std::tuple parameters_of<symmetric_jitter_kind>{
    named_parameter{"window", &symmetric_jitter_kind::window}};

template <>
inline constexpr std::tuple parameters_of<uniform_jitter_kind>{
    named_parameter{"least", &uniform_jitter_kind::least}};

template <>
inline constexpr std::tuple parameters_of<log_normal_jitter_kind>{
    named_parameter{"sigma", &log_normal_jitter_kind::sigma}};

template <>
inline constexpr std::tuple parameters_of<custom_jitter_kind>{
    named_parameter{"function", &custom_jitter_kind::function}};

} // namespace asio_retry::detail
