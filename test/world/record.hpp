#pragma once

#include "world/model.hpp"
#include "world/plan.hpp"

#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry::world {

class place;
struct watched_scope;

/// The findings of a round. Thread safety: all may add.
class violations {
public:
    void add(std::string what) {
        std::lock_guard const lock(mutex_);
        all_.push_back(std::move(what));
    }
    std::vector<std::string> const& all() const noexcept { return all_; }

private:
    std::mutex mutex_;
    std::vector<std::string> all_;
};

/// An operation that shares nothing with others, whose every step its model checks in virtual time.
struct planned_operation {
    planned_operation(operation_plan drawn, model::complaint complain)
        : plan(std::move(drawn))
        , watched(plan, std::move(complain)) {}

    operation_plan const plan;
    model watched;
    asio::cancellation_signal signal;
    watched_scope const* in_scope = nullptr;
    std::uint64_t asked_gate = 0;
    bool was_cancelled = false;
    bool is_rejected_at_once = false;
};

/// Counts the handlers and callables of one operation, join, drain or tick.
struct record {
    std::size_t const number;
    place& where;
    std::atomic<char const*> form;
    std::atomic<int> called = 0, handlers = 0, callables = 0;
    std::atomic<bool> may_be_lost = false; ///< somebody has dropped an attempt, or its context has ended
    std::atomic<bool> has_no_place = false;
    std::optional<planned_operation> planned;

    record(std::size_t given_number, place& given_where, char const* given_form)
        : number(given_number)
        , where(given_where)
        , form(given_form) {}

    /// Writes it down, with what may be wrong with it.
    void complete(error_code const& error, int value);
    bool is_over() const { return called != 0 || handlers == 0; }
};

inline error_code error_of(error_code const& error) {
    return error;
}
inline error_code error_of(std::exception_ptr const& thrown) {
    return thrown ? code_of(thrown) : error_code();
}

/// A handler for every signature, which cannot be copied. It counts its calls, and whether it is still there.
class witness {
public:
    explicit witness(record& told) noexcept
        : told_(&told) {
        ++told_->handlers;
    }
    witness(witness&& other) noexcept
        : told_(std::exchange(other.told_, nullptr)) {}
    witness& operator=(witness&& other) noexcept {
        std::swap(told_, other.told_);
        return *this;
    }
    ~witness() {
        if (told_)
            --told_->handlers;
    }

    void operator()() const { told_->complete({}, 0); }
    template <typename Failure>
    void operator()(Failure const& failure, int value = 0) const {
        told_->complete(error_of(failure), value);
    }
    template <typename Value>
        requires(!std::is_same_v<Value, int>)
    void operator()(error_code const& error, Value const&) const {
        told_->complete(error, 0);
    }

private:
    record* told_;
};

/// In a callable, which may be copied.
class presence {
public:
    explicit presence(record& of) noexcept
        : of_(&of) {
        ++of_->callables;
    }
    presence(presence const& other) noexcept
        : presence(*other.of_) {}
    presence& operator=(presence const&) = delete;
    ~presence() { --of_->callables; }

    record& operator*() const noexcept { return *of_; }
    record* operator->() const noexcept { return of_; }

private:
    record* of_;
};

class records {
public:
    record& add(place& where, char const* form) {
        std::lock_guard const lock(mutex_);
        return all_.emplace_back(all_.size(), where, form);
    }

    /// The forms whose handlers are still there.
    std::string alive() const {
        std::lock_guard const lock(mutex_);
        std::string forms;
        for (record const& each : all_)
            if (each.handlers != 0)
                forms += std::string(forms.empty() ? "" : ", ") + each.form.load();
        return forms;
    }

    bool are_alive() const {
        std::lock_guard const lock(mutex_);
        return std::ranges::any_of(all_, [](record const& each) { return each.handlers != 0; });
    }

    std::size_t size() const {
        std::lock_guard const lock(mutex_);
        return all_.size();
    }

    void lose(place const& where) {
        std::lock_guard const lock(mutex_);
        for (record& each : all_)
            if (&each.where == &where) {
                each.may_be_lost = true;
                each.has_no_place = true;
            }
    }

    /// In virtual time, where one thread runs.
    template <typename Function>
    void for_each_planned(Function function) {
        for (record& each : all_)
            if (each.planned)
                function(each);
    }

    void audit(violations& found) const {
        std::lock_guard const lock(mutex_);
        for (record const& each : all_) {
            auto const complain = [&](char const* what) {
                found.add("#" + std::to_string(each.number) + " " + each.form.load() + ": " + what);
            };
            if (each.handlers != 0)
                complain("its handler leaks");
            if (each.callables != 0)
                complain("its callable leaks");
            if (each.called > 1)
                complain("its handler was called twice");
            if (each.called == 0 && !each.may_be_lost)
                complain("its handler was not called");
            if (each.planned && each.planned->watched.holds_lease() && !each.planned->watched.is_over())
                complain("its lease is lost");
        }
    }

private:
    std::mutex mutable mutex_;
    std::deque<record> all_; // never move
};

} // namespace asio_retry::world
