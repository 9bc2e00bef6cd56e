#pragma once

#include <asio_retry/gate_waiter.hpp>
#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace asio_retry::world {

/// Passes everything on to a gate, and counts what has to balance.
class audited_gate final : public retry_gate {
public:
    explicit audited_gate(std::shared_ptr<retry_gate> audited)
        : audited_(std::move(audited)) {}

    /// Empty, or what is left when no operation is.
    std::string imbalance() const {
        if (running_ == 0 && leases_ == 0 && queued_ == 0)
            return {};
        return std::string(name()) + " is left with " + std::to_string(running_) + " attempts, " +
               std::to_string(leases_) + " leases and " + std::to_string(queued_) + " in its queue";
    }

    bool acquire(failure_kind kind, time_point now) noexcept override {
        bool const is_granted = audited_->acquire(kind, now);
        leases_ += is_granted;
        return is_granted;
    }
    void give_back(failure_kind kind) noexcept override {
        --leases_;
        audited_->give_back(kind);
    }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        return noted(audited_->admit(number, now), number, now);
    }
    admission enqueue(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        ++queued_;
        admission const answer = audited_->enqueue(waiter, number, now);
        if (answer.can_queue)
            return answer;
        --queued_;
        return noted(answer, number, now);
    }
    admission leave(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        --queued_;
        return noted(audited_->leave(waiter, number, now), number, now);
    }
    admission admit_again(admission const& before, std::uint64_t number, time_point now) noexcept override {
        end(number, true);
        return noted(audited_->admit_again(before, number, now), number, now);
    }
    void on_end(attempt_end const& what) noexcept override {
        end(what.number, what.after == failure_kind::none);
        audited_->on_end(what);
    }
    bool measures_time() const noexcept override { return audited_->measures_time(); }
    std::string_view name() const noexcept override { return audited_->name(); }

private:
    admission noted(admission const& answer, std::uint64_t number, time_point now) noexcept {
        if (answer.until <= now || answer.reserved) {
            ++running_;
            leases_ -= number != 1; // spent
        }
        return answer;
    }
    void end(std::uint64_t number, bool is_unspent) noexcept {
        --running_;
        leases_ += number != 1 && is_unspent;
    }

    std::shared_ptr<retry_gate> const audited_;
    std::atomic<int> running_ = 0, leases_ = 0, queued_ = 0;
};

} // namespace asio_retry::world
