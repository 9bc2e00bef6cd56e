#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/duration.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry::detail {

/// The entries of a `keyed_gates`, whatever its gates are. Any thread may call any function.
class ASIO_RETRY_DECL key_table {
public:
    /// Whether a gate that nobody else holds is idle.
    using idle_check = bool (*)(void const* gate, time_point now) noexcept;

    /// Throws std::invalid_argument if `greatest` is 0.
    key_table(std::size_t greatest, idle_check is_idle);
    key_table(key_table const&) = delete;
    key_table& operator=(key_table const&) = delete;
    ~key_table();

    /// Null if there is none.
    std::shared_ptr<void> find(std::string_view key);

    /// The gate of that key: `made`, unless another thread was faster.
    std::shared_ptr<void> insert(std::string_view key, std::shared_ptr<void> made);

    std::size_t size() const;
    std::uint64_t forgotten_in_use() const;

    /// All of them, in the order of `keyed_gates::for_each`; none of them counts as held.
    std::vector<std::pair<std::string, std::weak_ptr<void>>> all() const;

private:
    class lists;

    std::unique_ptr<lists> const lists_;
};

} // namespace asio_retry::detail

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
        , table_(greatest, &is_idle) {}

    /// Takes a `make` that gets the key, as a `std::string_view`.
    ///
    /// So the `on_change` of a breaker can know its key.
    template <typename Make>
        requires std::is_invocable_r_v<std::shared_ptr<Gate>, Make&, std::string_view>
    explicit keyed_gates(Make make, std::size_t greatest = 1024)
        : make_((detail::refuse_if_empty("keyed_gates.make", make), std::move(make)))
        , table_(greatest, &is_idle) {}

    /// The gate of `key`, made if it is new. Throws what `make` throws, and std::invalid_argument for a null
    /// gate.
    std::shared_ptr<Gate> at(std::string_view key) {
        if (auto known = table_.find(key))
            return std::static_pointer_cast<Gate>(std::move(known));
        std::shared_ptr<Gate> made = make_(key); // without the lock: `make` may call `at`
        if (!made)
            detail::refuse("keyed_gates.make", "null", "must make a gate");
        return std::static_pointer_cast<Gate>(table_.insert(key, std::move(made)));
    }

    /// How many gates there are.
    std::size_t size() const { return table_.size(); }

    /// How many gates were forgotten although they were in use: held, or not to be idle by time alone.
    ///
    /// If it grows, `greatest` is too small.
    std::uint64_t forgotten_in_use() const { return table_.forgotten_in_use(); }

    /// Calls `f(std::string const& key, Gate&)` for each gate. `f` may call `at`.
    ///
    /// The most recently used come first. Gates that were in use when it last looked at them come after the
    /// others, the last that it looked at first. A gate that is forgotten meanwhile is left out.
    template <typename Function>
    void for_each(Function&& f) const {
        for (auto const& [key, weak] : table_.all())
            if (auto const gate = weak.lock())
                f(key, *static_cast<Gate*>(gate.get()));
    }

private:
    using maker = std::function<std::shared_ptr<Gate>(std::string_view)>;

    static maker of_any_key(std::function<std::shared_ptr<Gate>()> make) {
        detail::refuse_if_empty("keyed_gates.make", make);
        return [make = std::move(make)](std::string_view) { return make(); };
    }

    static bool is_idle(void const* gate, time_point now) noexcept {
        if constexpr (requires(Gate const& which) {
                          { which.is_idle(now) } -> std::convertible_to<bool>;
                      })
            return static_cast<Gate const*>(gate)->is_idle(now);
        else
            return true;
    }

    maker const make_;
    detail::key_table table_;
};

} // namespace asio_retry
