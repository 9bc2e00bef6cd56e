#include <asio_retry/retry_gate.hpp>

#include "policy/enumerator_name.hpp"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <utility>

namespace asio_retry {
namespace {

thread_local std::string_view last_refuser = "all_gates";

class gate_chain final : public retry_gate {
public:
    explicit gate_chain(std::vector<std::shared_ptr<retry_gate>> gates) noexcept
        : gates_(std::move(gates)) {}

    bool acquire(failure_kind kind, time_point now) noexcept override {
        for (std::size_t i = 0; i < gates_.size(); ++i)
            if (!gates_[i]->acquire(kind, now)) {
                last_refuser = gates_[i]->name();
                while (i > 0)
                    gates_[--i]->give_back(kind);
                return false;
            }
        return true;
    }

    void give_back(failure_kind kind) noexcept override {
        for (auto const& gate : gates_)
            gate->give_back(kind);
    }

    admission admit(std::uint64_t number, time_point now) noexcept override {
        return ask_from(0, nullptr, number, now, (time_point::min)());
    }

    admission enqueue(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        return ask_from(0, &waiter, number, now, (time_point::min)());
    }

    admission leave(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        std::size_t const at = waiter.position;
        admission const answer = gates_[at]->leave(waiter, number, now);
        if (answer.until > now && !answer.reserved) {
            last_refuser = gates_[at]->name();
            abandon(0, at, number, std::max(waiter.admitted_at, waiter.reserved_for));
            return answer;
        }
        time_point const its = answer.reserved ? answer.until : (time_point::min)();
        time_point const reserved = std::max(waiter.reserved_for, its);
        admission const rest = ask_from(at + 1, nullptr, number, now, reserved);
        if (rest.until > now && !rest.reserved) {
            abandon(at, at + 1, number, std::max(now, its));
            abandon(0, at, number, std::max(waiter.admitted_at, waiter.reserved_for));
        }
        return rest;
    }

    void on_end(attempt_end const& end) noexcept override {
        for (auto const& gate : gates_)
            gate->on_end(end);
    }

    bool measures_time() const noexcept override {
        return std::ranges::any_of(gates_, [](auto const& gate) { return gate->measures_time(); });
    }

    std::string_view name() const noexcept override { return last_refuser; }

    std::vector<std::shared_ptr<retry_gate>> const& gates() const noexcept { return gates_; }

private:
    /// Asks the gates from this one on; the earlier ones have admitted the attempt, for `reserved` if that is
    /// later than now. With a waiter, the operation may wait in the queue of one. If one refuses, the attempt
    /// ends in those that were asked here.
    admission ask_from(std::size_t first, gate_waiter* waiter, std::uint64_t number, time_point now,
                       time_point reserved) noexcept {
        admission result = now;
        for (std::size_t i = first; i < gates_.size(); ++i) {
            admission answer = gates_[i]->admit(number, now);
            if (answer.can_queue && waiter) {
                waiter->position = i;
                waiter->reserved_for = reserved;
                waiter->admitted_at = now;
                answer = gates_[i]->enqueue(*waiter, number, now);
                if (answer.can_queue) {
                    last_refuser = gates_[i]->name();
                    return answer;
                }
            }
            if (answer.until > now && !answer.reserved) {
                last_refuser = gates_[i]->name();
                abandon(first, i, number, std::max(now, reserved));
                return answer;
            }
            if (answer.reserved && answer.until > reserved) {
                reserved = answer.until;
                result.refusal = answer.refusal;
                last_refuser = gates_[i]->name();
            }
        }
        result.reserved = reserved > now;
        if (result.reserved)
            result.until = reserved;
        return result;
    }

    /// Backwards. The time is that of the admission, or the latest that any of them has reserved.
    void abandon(std::size_t first, std::size_t end, std::uint64_t number, time_point at) noexcept {
        while (end > first)
            gates_[--end]->on_end(detail::unbegun(number, at));
    }

    std::vector<std::shared_ptr<retry_gate>> const gates_;
};

} // namespace

std::string_view to_string(request_priority rank) noexcept {
    static constexpr std::string_view names[] = {"low", "normal", "high"};
    return detail::enumerator_name<request_priority::high>(names, rank, "unknown request_priority");
}

std::ostream& operator<<(std::ostream& out, request_priority rank) {
    return out << to_string(rank);
}

retry_gate::~retry_gate() = default;

bool retry_gate::acquire(failure_kind, time_point) noexcept {
    return true;
}

void retry_gate::give_back(failure_kind) noexcept {}

admission retry_gate::admit(std::uint64_t, time_point now) noexcept {
    return now;
}

admission retry_gate::enqueue(gate_waiter&, std::uint64_t, time_point) noexcept {
    return (time_point::max)();
}

admission retry_gate::leave(gate_waiter&, std::uint64_t, time_point) noexcept {
    return (time_point::max)();
}

void retry_gate::on_end(attempt_end const&) noexcept {}

bool retry_gate::measures_time() const noexcept {
    return true;
}

std::string_view retry_gate::name() const noexcept {
    return "gate";
}

std::shared_ptr<retry_gate> all_gates(std::vector<std::shared_ptr<retry_gate>> gates) {
    std::vector<std::shared_ptr<retry_gate>> all;
    for (auto& each : gates)
        if (auto const* const chain = dynamic_cast<gate_chain const*>(each.get()))
            all.insert(all.end(), chain->gates().begin(), chain->gates().end());
        else if (each)
            all.push_back(std::move(each));
    if (all.empty())
        return nullptr;
    if (all.size() == 1)
        return std::move(all.front());
    return std::make_shared<gate_chain>(std::move(all));
}

} // namespace asio_retry
