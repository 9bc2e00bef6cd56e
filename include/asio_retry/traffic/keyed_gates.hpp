#pragma once

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/duration.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace asio_retry {

/// Keeps one gate for each key, such as a server. It forgets first what a new gate would answer alike.
///
/// With one breaker or throttle for all servers, the failures of one keep clients from the others. Use as key
/// what fails together: a host, a cluster, a tenant.
///
/// Lifetime: memory is bounded by `greatest` gates. Beyond them it forgets the least recently used gate that is
/// idle (`retry_gate::is_idle`) and that nobody else holds. So thousands of other keys do not drive out an open
/// breaker. If none is idle, it forgets one that time alone makes idle, such as a closed breaker that has heard
/// of an attempt. If all gates that it looks at are held or open, it forgets the oldest of them, and
/// `forgotten_in_use` counts it. An operation that holds a forgotten gate keeps it; the next `at` for its key
/// makes a new one.
///
/// The time for `is_idle` is that of the steady clock, which `at` reads only for a new key. In a `virtual_time`
/// that runs ahead of it a gate counts as in use for longer, and in one that stands still for less long.
///
/// A `Gate` without `is_idle` is idle when nobody else holds it.
///
/// Thread safety: call any function from any thread. The work of `at` does not grow with the number of gates.
template <typename Gate>
class keyed_gates {
public:
    /// `make` makes the gate of a new key; it may be called from several threads at once.
    ///
    /// Throws std::invalid_argument if `make` is empty or `greatest` is 0.
    explicit keyed_gates(std::function<std::shared_ptr<Gate>()> make, std::size_t greatest = 1024)
        : make_(of_any_key(std::move(make)))
        , greatest_(checked(greatest)) {}

    /// The same for a `make` that takes the key, as a `std::string_view`.
    ///
    /// So the `on_change` of a breaker can know its key.
    template <typename Make>
        requires std::is_invocable_r_v<std::shared_ptr<Gate>, Make&, std::string_view>
    explicit keyed_gates(Make make, std::size_t greatest = 1024)
        : make_((detail::refuse_if_empty("keyed_gates.make", make), std::move(make)))
        , greatest_(checked(greatest)) {}

    /// The gate of `key`, made if it is new. Throws what `make` throws, and std::invalid_argument for a null
    /// gate.
    std::shared_ptr<Gate> at(std::string_view key) {
        if (auto known = find(key))
            return known;
        std::shared_ptr<Gate> made = make_(key); // without the lock: `make` may call `at`
        if (!made)
            detail::refuse("keyed_gates.make", "null", "must make a gate");
        return insert(key, std::move(made));
    }

    /// How many gates there are.
    std::size_t size() const {
        std::lock_guard const lock(mutex_);
        return by_key_.size();
    }

    /// How many gates were forgotten although they were in use: held, or not to be idle by time alone.
    ///
    /// If it grows, `greatest` is too small.
    std::uint64_t forgotten_in_use() const {
        std::lock_guard const lock(mutex_);
        return forgotten_in_use_;
    }

    /// Calls `f(std::string const& key, Gate&)` for each gate. `f` may call `at`.
    ///
    /// The most recently used come first. Gates that were in use when it last looked at them come after the
    /// others, the last that it looked at first. A gate that is forgotten meanwhile is left out.
    template <typename Function>
    void for_each(Function&& f) const {
        std::vector<std::pair<std::string, std::weak_ptr<Gate>>> all; // so that none of them counts as held
        {
            std::lock_guard const lock(mutex_);
            all.reserve(by_key_.size());
            for (entry const& each : candidates_)
                all.emplace_back(each.key, each.gate);
            for (auto each = busy_.rbegin(); each != busy_.rend(); ++each)
                all.emplace_back(each->key, each->gate);
        }
        for (auto const& [key, weak] : all)
            if (auto const gate = weak.lock())
                f(key, *gate);
    }

private:
    struct entry {
        std::string key;
        std::shared_ptr<Gate> gate;
        bool is_busy = false; // it is in that list
    };
    using entries = std::list<entry>;

    static constexpr int most_looks = 64; // at one list, by one insertion

    using maker = std::function<std::shared_ptr<Gate>(std::string_view)>;

    static maker of_any_key(std::function<std::shared_ptr<Gate>()> make) {
        detail::refuse_if_empty("keyed_gates.make", make);
        return [make = std::move(make)](std::string_view) { return make(); };
    }

    static std::size_t checked(std::size_t greatest) {
        if (greatest == 0)
            detail::refuse("keyed_gates.greatest", "0", "must be positive");
        return greatest;
    }

    std::shared_ptr<Gate> find(std::string_view key) {
        std::lock_guard const lock(mutex_);
        return find_locked(key);
    }

    std::shared_ptr<Gate> find_locked(std::string_view key) {
        auto const found = by_key_.find(key);
        if (found == by_key_.end())
            return nullptr;
        move(found->second, candidates_, candidates_.begin());
        return found->second->gate;
    }

    std::shared_ptr<Gate> insert(std::string_view key, std::shared_ptr<Gate> made) {
        time_point const now = std::chrono::steady_clock::now();
        entries added, forgotten; // a forgotten gate is destroyed without the lock
        added.push_back({std::string(key), made});
        std::lock_guard const lock(mutex_);
        if (auto known = find_locked(key)) // another thread was faster
            return known;
        by_key_.emplace(added.front().key, added.begin());
        look_again(now);
        bool const has_idle = look_for_idle(now);
        if (by_key_.size() > greatest_)
            forget(has_idle ? std::prev(candidates_.end()) : idle_or_oldest(now), forgotten);
        candidates_.splice(candidates_.begin(), added);
        return made;
    }

    /// Moves an entry, which may be in either list.
    void move(typename entries::iterator which, entries& to, typename entries::iterator before) noexcept {
        if (which->is_busy && which == next_look_)
            ++next_look_;
        to.splice(before, which->is_busy ? busy_ : candidates_, which);
        which->is_busy = &to == &busy_;
    }

    static bool is_idle(entry const& which, time_point now) noexcept {
        if (which.gate.use_count() > 1)
            return false;
        if constexpr (requires(Gate const& gate) {
                          { gate.is_idle(now) } -> std::convertible_to<bool>;
                      })
            return std::as_const(*which.gate).is_idle(now);
        else
            return true;
    }

    /// One that was busy may be idle now. All of them have their turn.
    void look_again(time_point now) noexcept {
        if (next_look_ == busy_.end())
            next_look_ = busy_.begin();
        if (next_look_ == busy_.end())
            return;
        auto const which = next_look_++;
        if (is_idle(*which, now))
            move(which, candidates_, candidates_.end());
    }

    /// Moves those away that are busy, until the last candidate is idle. Returns whether it has found such a
    /// one.
    bool look_for_idle(time_point now) noexcept {
        for (int looks = 0; looks != most_looks && !candidates_.empty(); ++looks) {
            auto const last = std::prev(candidates_.end());
            if (is_idle(*last, now))
                return true;
            move(last, busy_, busy_.end());
        }
        return false;
    }

    /// Or one that becomes idle by itself, such as a closed breaker whose window is not empty. Precondition: a
    /// look has found no idle candidate, so some are busy.
    typename entries::iterator idle_or_oldest(time_point now) noexcept {
        auto fading = busy_.end();
        auto which = busy_.begin();
        for (int looks = 0; looks != most_looks && which != busy_.end(); ++looks, ++which) {
            if (fading != busy_.end()) {
                if (is_idle(*which, now))
                    return which;
            } else if (is_idle(*which, (time_point::max)())) {
                fading = which;
            }
        }
        if (fading != busy_.end())
            return fading;
        ++forgotten_in_use_;
        return busy_.begin();
    }

    void forget(typename entries::iterator which, entries& forgotten) noexcept {
        by_key_.erase(which->key);
        move(which, forgotten, forgotten.begin());
    }

    maker const make_;
    std::size_t const greatest_;
    std::mutex mutable mutex_;
    entries candidates_; // the most recently used first
    entries busy_;       // held or not idle when it was looked at; the last to come is the last
    typename entries::iterator next_look_ = busy_.end();
    std::unordered_map<std::string_view, typename entries::iterator> by_key_; // views of the entries
    std::uint64_t forgotten_in_use_ = 0;
};

} // namespace asio_retry
