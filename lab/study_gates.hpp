#pragma once

#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include <memory>

namespace asio_retry::lab {

/// A kind of gate; each client of a study gets its own.
struct gate_kind {
    char const* name;
    std::shared_ptr<retry_gate> (*make)();
};

inline constexpr gate_kind no_gate{"no budget", []() -> std::shared_ptr<retry_gate> { return nullptr; }};
inline constexpr gate_kind default_budget{
    "retry_budget", []() -> std::shared_ptr<retry_gate> { return std::make_shared<retry_budget>(); }};
inline constexpr gate_kind budget_by_request{"earn_by_request", []() -> std::shared_ptr<retry_gate> {
                                                 return std::make_shared<retry_budget>(
                                                     retry_budget_options{.earn_by_request = true});
                                             }};
inline constexpr gate_kind grpc_budget{"gRPC 10/0.1", []() -> std::shared_ptr<retry_gate> {
                                           return std::make_shared<token_budget>(grpc_tokens(10, 0.1));
                                       }};

inline constexpr gate_kind hundred_tokens{"100 tokens", []() -> std::shared_ptr<retry_gate> {
                                              return std::make_shared<token_budget>(
                                                  token_budget_options{.capacity = 100});
                                          }};

/// The policy with such a gate.
inline retry_policy gated(retry_policy const& policy, gate_kind const& kind) {
    auto gate = kind.make();
    return gate ? policy.gate(std::move(gate)) : policy;
}

} // namespace asio_retry::lab
