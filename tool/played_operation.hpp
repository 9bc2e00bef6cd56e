#pragma once

#include <asio_retry/random.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/system/errc.hpp>

#include <cstdint>
#include <optional>

namespace asio_retry::tool {

/// Plays an operation whose attempts fail at once, one after the other. It is alone: no gate is asked.
class played_operation {
public:
    played_operation(retry_policy const& policy, std::uint64_t seed, std::uint64_t stream)
        : machine_(policy.gate(nullptr))
        , source_(seed, stream)
        , begins_(machine_.start(now_).what == retry_action::kind::attempt) {}

    /// Whether there is time for a first attempt.
    bool begins() const { return begins_; }

    /// The delay before the next attempt, or none. Precondition: it begins.
    std::optional<duration> next() {
        static verdict const failure =
            verdict::failure(make_error_code(boost::system::errc::connection_refused));
        retry_action const action = machine_.on_failure(failure, now_, source_);
        if (action.what != retry_action::kind::wait)
            return std::nullopt;
        now_ = saturating_add(now_, action.delay);
        machine_.on_wait_over(now_);
        return action.delay;
    }

    duration waited() const { return now_.time_since_epoch(); }

private:
    retry_machine machine_;
    random source_;
    time_point now_{};
    bool begins_;
};

} // namespace asio_retry::tool
