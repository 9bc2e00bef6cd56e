#include "world/place.hpp"

#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/bind_executor.hpp>

#include <algorithm>

namespace asio_retry::world {

place::place(int number, bool is_virtual, endings& told)
    : number_(number)
    , endings_(told)
    , work_(std::in_place, io_->get_executor()) {
    if (is_virtual)
        time_.emplace(*io_);
    root_ = std::make_shared<retry_scope>(*io_);
    scopes_.push_back(root_);
}

void place::end() {
    if (!io_)
        return;
    endings_.lose(number_);
    tickers_.clear();
    buttons_.clear();
    parked_.clear();
    scopes_.clear();
    root_.reset();
    sockets_.clear();
    time_.reset();
    work_.reset();
    io_.reset();
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

std::shared_ptr<retry_scope> place::any_scope(choices& dice) {
    std::lock_guard const lock(mutex_);
    return dice.any_of(scopes_);
}

std::shared_ptr<looping_ticker> place::any_ticker(choices& dice) {
    std::lock_guard const lock(mutex_);
    return tickers_.empty() ? nullptr : dice.any_of(tickers_);
}

void place::add_scope(choices& dice) {
    auto const parent = any_scope(dice);
    auto const child = std::make_shared<retry_scope>(*parent);
    if (dice.one_in(4))
        child->max_pending(static_cast<std::size_t>(1 + dice.below(3)));
    std::lock_guard const lock(mutex_);
    scopes_.push_back(child);
}

void place::use_scopes(choices& dice, duration unit) {
    auto const scope = any_scope(dice);
    auto const handler = [&](char const* form) {
        return asio::bind_executor(asio::make_strand(*io_), witness(expect(form)));
    };
    switch (dice.below(8)) {
    case 0:
        return add_scope(dice);
    case 1: {
        std::shared_ptr<retry_scope> destroyed; // without the lock
        std::lock_guard const lock(mutex_);
        if (scopes_.size() < 2)
            return;
        std::swap(scopes_[1 + static_cast<std::size_t>(dice.below(static_cast<int>(scopes_.size()) - 1))],
                  scopes_.back());
        destroyed = std::move(scopes_.back());
        scopes_.pop_back();
        return;
    }
    case 2:
        return scope->retry_now();
    case 3:
        return scope->retry_now(dice.below(8) * unit);
    case 4:
        return scope->async_join(handler("async_join"));
    case 5:
        return scope->async_drain(dice.below(8) * unit, handler("async_drain"));
    case 6:
        if (scope != root_)
            scope->cancel();
        return;
    default:
        static_cast<void>(scope->pending());
    }
}

void place::press_a_button(choices& dice) {
    constexpr asio::cancellation_type_t types[] = {
        asio::cancellation_type::terminal, asio::cancellation_type::partial, asio::cancellation_type::total};
    std::lock_guard const lock(mutex_);
    if (!buttons_.empty())
        dice.any_of(buttons_).press(types[dice.below(3)]);
}

void place::cancel_all() {
    for (auto const& each : tickers_)
        asio::post(each->where, [each] { each->ticker.stop(); });
    for (cancel_button const& each : buttons_)
        each.press(asio::cancellation_type::terminal);
    root_->cancel();
}

bool place::is_idle() {
    if (has_ended())
        return true;
    auto const has_none = [](auto const& scope) { return scope->pending() == 0; };
    return scheduler(*io_).pending() == 0 && std::ranges::all_of(scopes_, has_none);
}

void place::audit(std::vector<std::string>& violations) {
    if (std::size_t const waits = scheduler(*io_).pending())
        violations.push_back(std::to_string(waits) + " waits are left in a scheduler");
    for (auto const& each : scopes_)
        if (std::size_t const pending = each->pending())
            violations.push_back(std::to_string(pending) + " operations are left in a scope");
}

} // namespace asio_retry::world
