#include "policy/handed_gate.hpp"

#include "policy/gate_ticket.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <utility>

namespace asio_retry::detail {
namespace {

composite_gate* parts_of(retry_gate* gate) noexcept {
    return dynamic_cast<composite_gate*>(gate);
}

std::span<std::shared_ptr<retry_gate> const> gates_of(std::shared_ptr<retry_gate> const& gate) noexcept {
    if (composite_gate const* const several = parts_of(gate.get()))
        return several->gates();
    return {&gate, 1};
}

constexpr gate_bits bits_of(std::size_t count) noexcept {
    return (gate_bits(1) << std::min(count, most_gate_bits)) - 1;
}

std::optional<gate_admission> admission_at(retry_gate& gate, std::size_t i,
                                           gate_admission const& all) noexcept {
    composite_gate* const several = parts_of(&gate);
    return several ? several->admission_of(i, all) : all;
}

void tell_except(retry_gate& gate, attempt_end const& end, gate_bits not_told) noexcept {
    if (not_told == 0)
        gate.on_end(end);
    else if (composite_gate* const several = parts_of(&gate))
        several->end_except(end, not_told);
}

/// The gate of a nested operation that has gates in common with the attempt around it. The first attempt that
/// asks takes over their admissions, and asks only the rest. All other attempts ask all gates.
class handed_gate final : public composite_gate {
public:
    /// The index of a common gate in the nested gate and in the attempt's gate, and its admission of the
    /// attempt.
    struct common_gate {
        std::size_t inside, outside;
        gate_admission how;
    };

    handed_gate(std::shared_ptr<retry_gate> whole, shared_value<nested_marks> outer,
                std::vector<common_gate> common)
        : whole_(std::move(whole))
        , outer_(std::move(outer))
        , common_(std::move(common)) {
        auto const all = gates_of(whole_);
        gates_.assign(all.begin(), all.end());
        std::vector<std::shared_ptr<retry_gate>> rest;
        for (std::size_t i = 0; i != gates_.size(); ++i) {
            bool const is_common = std::ranges::find(common_, i, &common_gate::inside) != common_.end();
            places_in_rest_.push_back(is_common ? nowhere : rest.size());
            if (!is_common)
                rest.push_back(gates_[i]);
        }
        for (common_gate const& each : common_)
            bits_ |= gate_bits(1) << each.outside;
        rest_ = all_gates(std::move(rest));
    }

    std::shared_ptr<retry_gate> const& whole() const noexcept { return whole_; }

    bool acquire(failure_kind kind, time_point now) noexcept override { return whole_->acquire(kind, now); }
    void give_back(failure_kind kind) noexcept override { whole_->give_back(kind); }
    bool measures_time() const noexcept override { return whole_->measures_time(); }
    std::string_view name() const noexcept override { return whole_->name(); }
    bool is_idle(time_point now) const noexcept override { return whole_->is_idle(now); }

    admission admit(std::uint64_t number, time_point now) noexcept override {
        if (number != 1 || !take())
            return whole_->admit(number, now);
        return keep(rest_ ? rest_->admit(number, now) : admission(now), now);
    }

    admission enqueue(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        if (number != 1 || !rest_ || !take())
            return whole_->enqueue(waiter, number, now);
        return keep_or_wait(waiter, rest_->enqueue(waiter, number, now), now);
    }

    admission leave(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        if (waits_.load() != &waiter)
            return whole_->leave(waiter, number, now);
        waits_ = nullptr;
        admission const answer = rest_->leave(waiter, number, now);
        return waiter.ticket != 0 ? keep_or_wait(waiter, answer, now) : keep(answer, now);
    }

    admission admit_again(admission const& before, std::uint64_t number, time_point now) noexcept override {
        if (before.ticket != ticket_)
            return whole_->admit_again(before, number, now);
        return keep(rest_ ? rest_->admit_again(given_by_rest_, number, now) : before, now);
    }

    bool watch(gate_waiter& waiter, admission const& given) noexcept override {
        if (given.ticket != ticket_)
            return whole_->watch(waiter, given);
        return rest_ && rest_->watch(waiter, given_by_rest_);
    }

    void unwatch(gate_waiter& waiter, admission const& given) noexcept override {
        given.ticket != ticket_ ? whole_->unwatch(waiter, given) : rest_->unwatch(waiter, given_by_rest_);
    }

    void on_end(attempt_end const& end) noexcept override { end_except(end, 0); }

    // --- for an attempt that lends its own admission

    std::vector<std::shared_ptr<retry_gate>> const& gates() const noexcept override { return gates_; }

    std::optional<gate_admission> admission_of(std::size_t i, gate_admission const& all) noexcept override {
        if (all.given.ticket != ticket_)
            return admission_at(*whole_, i, all);
        for (common_gate const& each : common_)
            if (each.inside == i)
                return each.how;
        return admission_at(*rest_, places_in_rest_[i], {given_by_rest_, all.number, all.after});
    }

    void end_except(attempt_end const& end, gate_bits not_told) noexcept override {
        if (end.ticket != ticket_)
            return tell_except(*whole_, end, not_told);
        if (rest_)
            end_rest(end, not_told);
        if (end.is_unbegun)
            return put_back();
        for (common_gate const& each : common_)
            if (!has_bit(not_told, each.inside))
                end_taken(each, end);
    }

private:
    /// Takes over the admissions of all common gates. Returns false if another attempt has them.
    bool take() noexcept {
        lent_admission& lent = outer_->lent;
        gate_bits left = lent.left.load();
        do
            if ((left & bits_) != bits_)
                return false;
        while (!lent.left.compare_exchange_weak(left, left & ~bits_));
        return true;
    }

    /// Puts back the admissions of an attempt that does not begin. If the attempt around it has ended
    /// meanwhile, tells the gates that end now.
    void put_back() noexcept {
        lent_admission& lent = outer_->lent;
        gate_bits left = lent.left.load();
        while ((left & lent.is_open) != 0)
            if (lent.left.compare_exchange_weak(left, left | bits_))
                return;
        attempt_end end;
        end.outcome = attempt_end::how::abandoned;
        for (common_gate const& each : common_)
            end_taken(each, end);
    }

    /// Stores the answer of the other gates. If they refuse, puts the admissions back.
    admission keep(admission answer, time_point now) noexcept {
        if (answer.until > now)
            note_refuser(rest_->name());
        if (!may_begin(answer, now)) {
            put_back();
            return answer;
        }
        given_by_rest_ = answer;
        answer.ticket = ticket_;
        return answer;
    }
    admission keep_or_wait(gate_waiter& waiter, admission const& answer, time_point now) noexcept {
        if (!answer.can_queue)
            return keep(answer, now);
        note_refuser(rest_->name());
        waits_ = &waiter;
        return answer;
    }

    void end_rest(attempt_end end, gate_bits not_told) noexcept {
        end.ticket = given_by_rest_.ticket;
        if (end.outcome == attempt_end::how::abandoned)
            end.now = given_by_rest_.until;
        gate_bits in_rest = 0;
        for (std::size_t i = 0; i != places_in_rest_.size(); ++i)
            if (has_bit(not_told, i) && places_in_rest_[i] != nowhere)
                in_rest |= gate_bits(1) << places_in_rest_[i];
        tell_except(*rest_, end, in_rest);
    }

    /// Ends the request that began with the attempt around this one.
    void end_taken(common_gate const& which, attempt_end end) noexcept {
        auto const& [given, number, after] = which.how;
        retry_gate& gate = *gates_[which.inside];
        end.ticket = given.ticket;
        end.number = number;
        end.after = after;
        if (end.outcome == attempt_end::how::abandoned)
            end.now = given.until;
        else if (gate.measures_time())
            end.took = elapsed_between(given.until, end.now);
        gate.on_end(end);
    }

    std::shared_ptr<retry_gate> const whole_;
    shared_value<nested_marks> const outer_;
    std::vector<common_gate> const common_;
    std::vector<std::shared_ptr<retry_gate>> gates_; // of `whole_`
    std::shared_ptr<retry_gate> rest_;               // without the common gates; null: none is left
    static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

    std::vector<std::size_t> places_in_rest_; // of `gates_`; common gates have none
    gate_bits bits_ = 0;                      // of the common gates, by their index in the attempt's gate
    std::uint64_t const ticket_ = new_gate_ticket(); // of the attempt that has taken the admissions over

    // The state of the attempt that has taken the admissions over.
    admission given_by_rest_ = time_point();
    std::atomic<gate_waiter const*> waits_ = nullptr; // in a queue of the rest
};

/// Null if the attempt of these marks has no gate in common.
std::shared_ptr<retry_gate> take_from(shared_value<nested_marks> const& outer,
                                      std::shared_ptr<retry_gate> const& gate) {
    lent_admission const& lent = outer->lent;
    if (!lent.gate)
        return nullptr;
    admission given = lent.admitted;
    given.ticket = lent.ticket;
    auto const inside = gates_of(gate), outside = gates_of(lent.gate);
    std::vector<handed_gate::common_gate> common;
    for (std::size_t i = 0; i != inside.size(); ++i)
        for (std::size_t o = 0; o != std::min(outside.size(), most_gate_bits); ++o) {
            if (inside[i] != outside[o] ||
                std::ranges::find(common, o, &handed_gate::common_gate::outside) != common.end())
                continue;
            if (auto const how = admission_at(*lent.gate, o, {given, lent.number, lent.after}))
                common.push_back({i, o, *how});
            break;
        }
    if (common.empty())
        return nullptr;
    return std::make_shared<handed_gate>(gate, outer, std::move(common));
}

} // namespace

void lend(lent_admission& lent, std::shared_ptr<retry_gate> const& gate, gate_admission const& how) noexcept {
    if (!gate || (lent.left.load() & lent.is_open) != 0)
        return;
    lent.gate = gate;
    lent.admitted = how.given.until;
    lent.ticket = how.given.ticket;
    lent.number = how.number;
    lent.after = how.after;
    lent.left = lent.is_open | bits_of(gates_of(gate).size());
}

void end_lent(lent_admission& lent, retry_gate& gate, attempt_end const& end) noexcept {
    gate_bits const left = lent.left.exchange(0);
    if ((left & lent.is_open) == 0)
        return gate.on_end(end);
    tell_except(gate, end, bits_of(gates_of(lent.gate).size()) & ~left);
}

std::shared_ptr<retry_gate> hand_over(std::shared_ptr<retry_gate> gate,
                                      shared_value<nested_marks> const& outer) {
    if (auto const* const handed = dynamic_cast<handed_gate const*>(gate.get()))
        gate = handed->whole(); // the policy was nested before
    for (auto const* marks = &outer; gate && *marks; marks = &(*marks)->around)
        if (auto handed = take_from(*marks, gate))
            return handed;
    return gate;
}

} // namespace asio_retry::detail
