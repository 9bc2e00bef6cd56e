#include <asio_retry/retry_gate.hpp>

#include "policy/enumerator_name.hpp"
#include "policy/gate_ticket.hpp"
#include "policy/handed_gate.hpp"
#include "policy/lateness.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <ostream>
#include <utility>

namespace asio_retry {
namespace {

thread_local std::string_view last_refuser = "all_gates";

class gate_chain final : public detail::composite_gate {
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
        for (std::size_t i = 0; i < gates_.size(); ++i) {
            admission const answer = gates_[i]->admit(number, now);
            if (answer.until <= now && answer.ticket == 0)
                continue;
            if (detail::may_begin(answer, now))
                return admit_with(answer, i, number, now);
            last_refuser = gates_[i]->name();
            end_first(i, number, now);
            return answer;
        }
        return now;
    }

    admission admit_again(admission const& before, std::uint64_t number, time_point now) noexcept override {
        if (record* const kept = find(before.ticket))
            return ask({kept, before.ticket, nullptr, number, now,
                        elapsed_between(before.until, now) < detail::always_late});
        return retry_gate::admit_again(before, number, now);
    }

    admission enqueue(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        std::uint64_t const ticket = detail::new_gate_ticket();
        if (record* const made = make(ticket))
            return ask({made, ticket, &waiter, number, now});
        return {(time_point::max)(), detail::no_memory_error()};
    }

    admission leave(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        question const asked{find(waiter.ticket), waiter.ticket, &waiter, number, now};
        std::size_t const at = asked.of->waits_at;
        waiter.ticket = asked.of->ticket_there;
        admission const answer = gates_[at]->leave(waiter, number, now);
        if (answer.can_queue && waiter.ticket != 0)
            return wait_at(at, answer, asked);
        if (!detail::may_begin(answer, now))
            return refuse(at, answer, asked);
        asked.of->parts[at] = {answer, true, 0};
        if (waiter.is_leaving)
            return refuse(at, (time_point::max)(), asked);
        return ask(asked);
    }

    /// Only the gate with the latest time may move the wait.
    bool watch(gate_waiter& waiter, admission const& given) noexcept override {
        record* const kept = find(given.ticket);
        if (!kept)
            return false;
        for (std::size_t i = 0; i < gates_.size(); ++i)
            if (auto const& its = kept->parts[i].given; its && its->reserved && its->until == given.until) {
                kept->waits_at = i;
                return gates_[i]->watch(waiter, *its);
            }
        return false;
    }

    void unwatch(gate_waiter& waiter, admission const& given) noexcept override {
        if (record* const kept = find(given.ticket))
            gates_[kept->waits_at]->unwatch(waiter, *kept->parts[kept->waits_at].given);
    }

    void on_end(attempt_end const& end) noexcept override { end_except(end, 0); }

    void end_except(attempt_end const& end, detail::gate_bits not_told) noexcept override {
        if (end.ticket != 0) {
            if (auto const ended = take(end.ticket))
                return tell_end(ended.mapped(), end, not_told);
        }
        for (std::size_t i = 0; i < gates_.size(); ++i)
            if (!detail::has_bit(not_told, i))
                gates_[i]->on_end(end);
    }

    std::optional<detail::gate_admission> admission_of(std::size_t i,
                                                       detail::gate_admission const& all) noexcept override {
        if (all.given.ticket == 0)
            return all;
        std::lock_guard const lock(mutex_);
        auto const found = records_.find(all.given.ticket);
        if (found == records_.end())
            return std::nullopt;
        return detail::gate_admission{*found->second.parts[i].given, all.number, all.after};
    }

    bool measures_time() const noexcept override {
        return std::ranges::any_of(gates_, [](auto const& gate) { return gate->measures_time(); });
    }

    bool is_idle(time_point now) const noexcept override {
        if (!std::ranges::all_of(gates_, [&](auto const& gate) { return gate->is_idle(now); }))
            return false;
        std::lock_guard const lock(mutex_);
        return records_.empty();
    }

    std::string_view name() const noexcept override { return last_refuser; }

    std::vector<std::shared_ptr<retry_gate>> const& gates() const noexcept override { return gates_; }

private:
    /// The admissions of one attempt. Most attempts need no record, because every gate has admitted them for
    /// the same time without a ticket.
    struct record {
        struct part {
            std::optional<admission> given; // no value: the gate has not admitted it
            bool has_answered = false;      // since the last wait
            int moves = 0; // how often the reserved time moved because the attempt came too late
        };
        std::vector<part> parts;        // of the gates
        std::size_t waits_at = 0;       // the gate in whose queue it waits, or that may move its reserved time
        std::uint64_t ticket_there = 0; // of the waiter in `waits_at`, if that gate is an all_gates, too
    };
    using records = std::map<std::uint64_t, record>;

    /// A question about an attempt that has a record.
    struct question {
        record* of;
        std::uint64_t ticket;
        gate_waiter* waiter; // null if it may wait in no queue
        std::uint64_t number;
        time_point now;
        bool is_on_time = false; // the attempt came on time for the latest reserved time
    };

    static constexpr int most_moves = 3;

    /// The attempt needs a record: gate `index` has admitted it with `answer`, and the gates before it at
    /// `now`.
    admission admit_with(admission const& answer, std::size_t index, std::uint64_t number,
                         time_point now) noexcept {
        std::uint64_t const ticket = detail::new_gate_ticket();
        record* const made = make(ticket);
        if (!made) {
            gates_[index]->on_end(detail::unbegun(number, answer));
            end_first(index, number, now);
            return {(time_point::max)(), detail::no_memory_error()};
        }
        std::fill_n(made->parts.begin(), index, record::part{now, true, 0});
        made->parts[index] = {answer, true, 0};
        return ask({made, ticket, nullptr, number, now});
    }

    /// Asks the gates that have not admitted the attempt. Then asks the others again, except gates that have
    /// answered since the last wait. If a gate refuses, the gates that have admitted the attempt hear its end.
    admission ask(question const& asked) noexcept {
        auto const& [of, ticket, waiter, number, now, is_on_time] = asked;
        for (bool const again : {false, true})
            for (std::size_t i = 0; i < gates_.size(); ++i) {
                record::part& its = of->parts[i];
                if (its.has_answered || its.given.has_value() != again)
                    continue;
                admission answer = again ? ask_again(i, asked) : gates_[i]->admit(number, now);
                if (answer.can_queue && waiter) {
                    waiter->renew(); // a queue before this one may have granted it
                    answer = gates_[i]->enqueue(*waiter, number, now);
                    if (answer.can_queue)
                        return wait_at(i, answer, asked);
                }
                if (!detail::may_begin(answer, now))
                    return refuse(i, answer, asked);
                its.given = answer;
                its.has_answered = true;
            }
        return admitted(asked);
    }

    /// If the attempt had to wait for another gate, a gate whose reserved time is over may move that time. A
    /// gate may do so at most `most_moves` times: two gates could otherwise postpone the attempt for ever.
    admission ask_again(std::size_t i, question const& asked) noexcept {
        record::part& its = asked.of->parts[i];
        admission const given = *std::exchange(its.given, std::nullopt);
        bool const is_in_time =
            its.moves >= most_moves && asked.is_on_time && given.reserved && given.until < asked.now;
        admission const answer =
            gates_[i]->admit_again(given, asked.number, is_in_time ? given.until : asked.now);
        its.moves += given.reserved && answer.reserved && answer.until > given.until;
        return answer;
    }

    /// The answer if all gates have admitted the attempt: the latest of their times.
    admission admitted(question const& asked) noexcept {
        admission result = asked.now;
        bool is_kept = false;
        for (std::size_t i = 0; i < gates_.size(); ++i) {
            asked.of->parts[i].has_answered = false;
            admission const& its = *asked.of->parts[i].given;
            is_kept = is_kept || its.ticket != 0 || its.until != asked.now;
            if (its.until > result.until) {
                result.until = its.until;
                result.refusal = its.refusal;
                last_refuser = gates_[i]->name();
            }
        }
        result.reserved = result.until > asked.now;
        if (is_kept)
            result.ticket = asked.ticket;
        else
            take(asked.ticket);
        return result;
    }

    admission wait_at(std::size_t at, admission const& answer, question const& asked) noexcept {
        last_refuser = gates_[at]->name();
        asked.of->waits_at = at;
        asked.of->ticket_there = std::exchange(asked.waiter->ticket, asked.ticket);
        for (record::part& its : asked.of->parts) {
            its.has_answered = false;
            if (its.given && its.given->reserved)
                asked.waiter->reserved_for = std::max(asked.waiter->reserved_for, its.given->until);
        }
        return answer;
    }

    admission refuse(std::size_t by, admission const& answer, question const& asked) noexcept {
        last_refuser = gates_[by]->name();
        auto const ended = take(asked.ticket);
        for (std::size_t i = gates_.size(); i-- > 0;)
            if (auto const& its = ended.mapped().parts[i].given)
                gates_[i]->on_end(detail::unbegun(asked.number, *its));
        return answer;
    }

    /// Tells each gate the end, together with that gate's own ticket.
    void tell_end(record const& of, attempt_end end, detail::gate_bits not_told) noexcept {
        for (std::size_t i = 0; i < gates_.size(); ++i) {
            if (detail::has_bit(not_told, i))
                continue;
            admission const& given = *of.parts[i].given;
            end.ticket = given.ticket;
            if (end.outcome == attempt_end::how::abandoned)
                end.now = given.until;
            gates_[i]->on_end(end);
        }
    }

    /// Tells the first `count` gates that the attempt, which they have admitted at `now`, does not begin.
    void end_first(std::size_t count, std::uint64_t number, time_point now) noexcept {
        while (count > 0)
            gates_[--count]->on_end(detail::unbegun(number, now));
    }

    /// Null without memory.
    record* make(std::uint64_t ticket) noexcept {
        try {
            records made;
            made[ticket].parts.resize(gates_.size());
            std::lock_guard const lock(mutex_);
            return &records_.insert(made.extract(ticket)).position->second;
        } catch (...) {
            return nullptr;
        }
    }

    /// Finds the record of a ticket. Only the operation that has the ticket uses it. Null for a ticket of
    /// another gate.
    record* find(std::uint64_t ticket) noexcept {
        if (ticket == 0)
            return nullptr;
        std::lock_guard const lock(mutex_);
        auto const found = records_.find(ticket);
        return found == records_.end() ? nullptr : &found->second;
    }

    records::node_type take(std::uint64_t ticket) noexcept {
        if (ticket == 0)
            return {};
        std::lock_guard const lock(mutex_);
        return records_.extract(ticket);
    }

    std::vector<std::shared_ptr<retry_gate>> const gates_;
    std::mutex mutable mutex_;
    records records_;
};

} // namespace

void detail::note_refuser(std::string_view name) noexcept {
    last_refuser = name;
}

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

admission retry_gate::admit_again(admission const& before, std::uint64_t number, time_point now) noexcept {
    if (before.reserved)
        return before;
    on_end(detail::unbegun(number, before));
    return admit(number, now);
}

admission retry_gate::enqueue(gate_waiter&, std::uint64_t, time_point) noexcept {
    return (time_point::max)();
}

admission retry_gate::leave(gate_waiter&, std::uint64_t, time_point) noexcept {
    return (time_point::max)();
}

bool retry_gate::watch(gate_waiter&, admission const&) noexcept {
    return false;
}

void retry_gate::unwatch(gate_waiter&, admission const&) noexcept {}

bool retry_gate::is_idle(time_point) const noexcept {
    return true;
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
