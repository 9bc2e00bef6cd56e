#pragma once

#include <asio_retry/detail/policy/empty_function.hpp>
#include <asio_retry/detail/policy/refuse.hpp>

#include <cstddef>
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

/// Keeps one gate for each key, such as a server, and forgets the least recently used.
///
/// With one breaker or throttle for all servers, the failures of one keep clients from the others. Use as key
/// what fails together: a host, a cluster, a tenant.
///
/// Lifetime: memory is bounded by `greatest` gates. An operation that holds a forgotten gate keeps it; the next
/// `at` for its key makes a new one.
/// Thread safety: call any function from any thread.
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
        return by_age_.size();
    }

    /// Calls `f(std::string const& key, Gate&)` for each gate, the most recently used first. `f` may call `at`.
    template <typename Function>
    void for_each(Function&& f) const {
        std::vector<entry> all;
        {
            std::lock_guard const lock(mutex_);
            all.assign(by_age_.begin(), by_age_.end());
        }
        for (entry const& each : all)
            f(each.key, *each.gate);
    }

private:
    struct entry {
        std::string key;
        std::shared_ptr<Gate> gate;
    };

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
        by_age_.splice(by_age_.begin(), by_age_, found->second);
        return found->second->gate;
    }

    std::shared_ptr<Gate> insert(std::string_view key, std::shared_ptr<Gate> made) {
        std::list<entry> added, forgotten; // a forgotten gate is destroyed without the lock
        added.push_back({std::string(key), std::move(made)});
        std::lock_guard const lock(mutex_);
        if (auto known = find_locked(key)) // another thread was faster
            return known;
        by_key_.emplace(added.front().key, added.begin());
        by_age_.splice(by_age_.begin(), added);
        if (by_age_.size() > greatest_) {
            by_key_.erase(by_age_.back().key);
            forgotten.splice(forgotten.begin(), by_age_, std::prev(by_age_.end()));
        }
        return by_age_.front().gate;
    }

    maker const make_;
    std::size_t const greatest_;
    std::mutex mutable mutex_;
    std::list<entry> by_age_;
    std::unordered_map<std::string_view, typename std::list<entry>::iterator> by_key_; // views of the entries
};

} // namespace asio_retry
