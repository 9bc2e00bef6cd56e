#pragma once

#include <asio_retry/detail/attempt/bound_operation.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/attempt/operation_hooks.hpp>
#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/detail/traffic/endpoint_choice.hpp>
#include <asio_retry/detail/traffic/endpoint_table.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace asio_retry::detail {

/// The gate of one operation: it chooses an endpoint for each attempt, and hears how the attempt ended.
class endpoint_chooser final : public hooks_observer {
public:
    explicit endpoint_chooser(std::shared_ptr<endpoint_table> const& endpoints) noexcept
        : choice_(endpoints) {}

    endpoint_record const& at(std::uint64_t number) const noexcept { return *choice_.at(number); }

private:
    void draw_from(random& source) noexcept override { choice_.draw_from(source); }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        return choice_.choose(number, now);
    }
    pushback wish(pushback said, time_point now) noexcept override { return choice_.wish(said, now); }
    time_point put_off_since(time_point now) const noexcept override { return choice_.put_off_since(now); }
    void on_attempt_end(attempt_end const& end) noexcept override { choice_.on_end(end); }
    std::string_view gate_name() const noexcept override { return "endpoint_set"; }
    std::shared_ptr<void const> owner_of(std::uint64_t number) const noexcept override {
        return choice_.at(number);
    }

    endpoint_choice choice_;
};

/// An operation whose attempts each get an endpoint. Made by `on_endpoint`.
template <typename Endpoint, typename Operation>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] endpoint_operation {
public:
    /// For `on_endpoint`.
    endpoint_operation(endpoint_set<Endpoint> const& endpoints, Operation given_operation)
        : chooser_(endpoint_access::table(endpoints))
        , operation_(std::move(given_operation)) {}

private:
    friend struct operation_form<endpoint_operation>;

    endpoint_chooser chooser_;
    Operation operation_;
};

} // namespace asio_retry::detail
