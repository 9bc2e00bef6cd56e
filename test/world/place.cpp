#include "world/place.hpp"

#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/consign.hpp>

#include <algorithm>

namespace asio_retry::world {

void record::complete(error_code const& error, int value) {
    ++called;
    where.note(*this, "complete", error.value(), value);
    if (has_no_place)
        where.complain(*this, "completes though its context is gone");
    if (planned)
        planned->watched.completed(error, value == 1, where.since());
}

place::place(dice& d, bool is_virtual, records& all, trace& written, violations& found)
    : is_virtual_(is_virtual)
    , records_(all)
    , trace_(written)
    , violations_(found)
    , work_(std::in_place, io_->get_executor()) {
    if (is_virtual) {
        time_.emplace(*io_);
        scheduler(*io_).seed(d.seed());       // each round draws delays of its own
        begin_ = time_point(24h * 365 * 100); // the same in each repetition
        time_->advance(begin_ - time_->now());
    }
    scopes_.push_back({.itself = std::make_shared<retry_scope>(*io_)});
    for (int i = d.below(4); i != 0; --i)
        add_scope(d);
}

void place::end() {
    if (!io_)
        return;
    records_.lose(*this);
    ended_at_ = since();
    tickers_.clear();
    buttons_.clear();
    parked_.clear();
    for (watched_scope& each : scopes_)
        each.itself.reset();
    sockets_.clear();
    time_.reset();
    work_.reset();
    io_.reset();
}

void place::complain(record const& who, std::string const& what) {
    note(who, "VIOLATION");
    violations_.add(std::to_string(since().count()) + " ns  #" + std::to_string(who.number) + " " +
                    who.form.load() + ": " + what);
}

record& place::add(operation_plan plan) {
    record& added = expect("an operation that shares nothing");
    added.planned.emplace(std::move(plan),
                          [&added](std::string const& what) { added.where.complain(added, what); });
    planned_.push_back(&added);
    return added;
}

void place::add(cancel_button button) {
    std::lock_guard const lock(mutex_);
    buttons_.push_back(std::move(button));
}

retry_report& place::new_report() {
    std::lock_guard const lock(mutex_);
    return reports_.emplace_back();
}

asio::ip::tcp::socket& place::new_socket() {
    std::lock_guard const lock(mutex_);
    return sockets_.emplace_back(*io_);
}

void place::add(std::shared_ptr<looping_ticker> ticker) {
    std::lock_guard const lock(mutex_);
    tickers_.push_back(std::move(ticker));
}

std::shared_ptr<looping_ticker> place::any_ticker(dice& d) {
    std::lock_guard const lock(mutex_);
    return tickers_.empty() ? nullptr : d.any_of(tickers_);
}

// --- scopes

/// The root is always there.
watched_scope& place::any_watched(dice& d) {
    watched_scope& any = d.any_of(scopes_);
    return any.itself ? any : scopes_.front();
}

std::shared_ptr<retry_scope> place::any_scope(dice& d) {
    std::lock_guard const lock(mutex_);
    return any_watched(d).itself;
}

void place::add_scope(dice& d) {
    watched_scope const& parent = any_watched(d);
    watched_scope& child = scopes_.emplace_back();
    child.itself = std::make_shared<retry_scope>(*parent.itself);
    child.parent = &parent;
    child.number = scopes_.size() - 1;
    child.is_limited = parent.is_limited || d.one_in(6);
    if (child.is_limited && !parent.is_limited)
        child.itself->max_pending(1 + d.below(std::size_t(3)));
}

retry_scope* place::scope_for(record& one, dice& d) {
    watched_scope const& scope = any_watched(d);
    if (!one.planned->plan.in_scope || scope.is_limited)
        return nullptr;
    one.planned->in_scope = &scope;
    if (scope.itself->cancelled())
        one.planned->watched.cancelled_by_scope(since());
    for (watched_scope const* each = &scope; each; each = each->parent)
        if (each->is_drained)
            one.planned->watched.drained_by_scope(0s, since());
    return scope.itself.get();
}

void place::use_scopes(dice& d, duration unit) {
    std::shared_ptr<retry_scope> kept; // another thread may destroy it; the lock is released before it ends
    watched_scope* scope = nullptr;
    int const what = d.below(9);
    {
        std::lock_guard const lock(mutex_);
        if (what == 0)
            return add_scope(d);
        scope = &any_watched(d);
        kept = scope->itself;
        if (what == 1 && scope != &scopes_.front())
            scope->itself.reset();
    }
    switch (what) {
    case 1:
        if (scope != &scopes_.front())
            tell_cancelled(*scope);
        return;
    case 2:
        tell_hurried(*scope, 0s);
        return kept->retry_now();
    case 3: {
        duration const within = d.below(8) * unit;
        tell_hurried(*scope, within);
        return kept->retry_now(within);
    }
    case 4:
    case 5:
        return join(*scope, *kept, what == 5);
    case 6:
        return drain(*scope, *kept, d.below(8) * unit * d.pick({1, 1, 500}));
    case 7:
        return scope == &scopes_.front() ? void() : cancel(*scope, *kept);
    default:
        static_cast<void>(kept->pending());
    }
}

void place::tell_cancelled(watched_scope const& scope) {
    for_each_planned_in(scope, [&](record& each) { each.planned->watched.cancelled_by_scope(since()); });
}

void place::tell_hurried(watched_scope const& scope, duration within) {
    for_each_planned_in(scope, [&](record& each) { each.planned->watched.hurried_by_scope(within, since()); });
}

void place::cancel(watched_scope const& scope, retry_scope& itself) {
    tell_cancelled(scope);
    itself.cancel();
}

void place::cancel_a_scope(dice& d) {
    watched_scope const& scope = any_watched(d);
    cancel(scope, *scope.itself);
}

/// A handler of a join or a drain, which has to come after the handlers of the operations that it waits for.
auto place::joined(char const* form, watched_scope const& scope, retry_scope const& itself, bool is_cancelled) {
    record& one = expect(form);
    std::vector<record const*> waited_for;
    for_each_planned_in(scope, [&](record& each) { waited_for.push_back(&each); });
    std::size_t const pending = itself.pending();
    return [told = witness(one), &one, waited_for, pending, is_cancelled](error_code const& error,
                                                                          std::size_t stopped = 0) {
        told(error);
        if (error && !is_cancelled)
            one.where.complain(one, "fails though nobody has cancelled it");
        if (one.where.is_virtual() && stopped > pending)
            one.where.complain(one, "stops more attempts than there were operations");
        for (record const* const each : waited_for)
            if (!error && !each->planned->watched.is_over())
                one.where.complain(one, "does not wait for the handler of #" + std::to_string(each->number));
    };
}

void place::join(watched_scope const& scope, retry_scope& itself, bool is_cancelled) {
    auto const own = asio::make_strand(*io_);
    auto const signal = std::make_shared<asio::cancellation_signal>();
    itself.async_join(asio::bind_cancellation_slot(
        signal->slot(),
        asio::bind_executor(own, asio::consign(joined("async_join", scope, itself, is_cancelled), signal))));
    if (is_cancelled)
        add(cancel_button{signal, own});
}

void place::drain(watched_scope& scope, retry_scope& itself, duration timeout) {
    auto handler = asio::bind_executor(asio::make_strand(*io_), joined("async_drain", scope, itself, false));
    if (is_virtual_)
        scope.is_drained = true;
    for_each_planned_in(scope, [&](record& each) { each.planned->watched.drained_by_scope(timeout, since()); });
    itself.async_drain(timeout, std::move(handler));
}

// --- cancellation

void place::press_a_button(dice& d) {
    if (record* const one = is_virtual_ && d.one_in(2) ? any_planned(d) : nullptr)
        return cancel(*one, draw_type(d));
    std::lock_guard const lock(mutex_);
    if (!buttons_.empty())
        d.any_of(buttons_).press(draw_type(d));
}

record* place::any_planned(dice& d) {
    return planned_.empty() ? nullptr : d.any_of(planned_);
}

/// A coroutine forgets a cancellation when one follows that it filters out: Asio keeps only the last.
void place::cancel(record& one, asio::cancellation_type_t type) {
    bool const is_filtered = (type & asio::cancellation_type::terminal) == asio::cancellation_type::none;
    if (one.planned->plan.awaited && is_filtered && one.planned->was_cancelled)
        return;
    one.planned->was_cancelled = true;
    note(one, "cancel", static_cast<int>(type));
    one.planned->watched.cancelled(type, since());
    one.planned->signal.emit(type);
}

void place::cancel_all() {
    for (auto const& each : tickers_)
        asio::post(each->where, [each] { each->ticker.stop(); });
    for (cancel_button const& each : buttons_)
        each.press(asio::cancellation_type::terminal);
    asio::post(*io_, [this] {
        for (record* const each : planned_)
            cancel(*each, asio::cancellation_type::terminal);
    });
    cancel(scopes_.front(), *scopes_.front().itself);
}

// --- the end

bool place::is_idle() {
    if (has_ended())
        return true;
    auto const has_none = [](watched_scope const& scope) {
        return !scope.itself || scope.itself->pending() == 0;
    };
    return parked_.empty() && scheduler(*io_).pending() == 0 && std::ranges::all_of(scopes_, has_none);
}

void place::audit() {
    if (std::size_t const waits = scheduler(*io_).pending())
        violations_.add(std::to_string(waits) + " waits are left in a scheduler");
    for (watched_scope const& each : scopes_)
        if (std::size_t const pending = each.itself ? each.itself->pending() : 0)
            violations_.add(std::to_string(pending) + " operations are left in a scope");
    work_.reset();
    io_->restart();
    while (io_->poll() != 0) {
    }
    if (!io_->stopped())
        violations_.add("a context does not run dry");
}

} // namespace asio_retry::world
