#include <asio_retry/traffic/keyed_gates.hpp>

#include <chrono>
#include <iterator>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace asio_retry::detail {

class key_table::lists {
public:
    lists(std::size_t greatest, idle_check check) noexcept
        : greatest_(greatest)
        , is_idle_(check) {}

    std::shared_ptr<void> find(std::string_view key) {
        std::lock_guard const lock(mutex_);
        return find_locked(key);
    }

    std::shared_ptr<void> insert(std::string_view key, std::shared_ptr<void> made) {
        time_point const now = std::chrono::steady_clock::now();
        entries added, forgotten; // a forgotten gate is destroyed without the lock
        added.push_back({std::string(key), made});
        std::lock_guard const lock(mutex_);
        if (auto known = find_locked(key)) // another thread has added it
            return known;
        by_key_.emplace(added.front().key, added.begin());
        look_again(now);
        bool const has_idle = look_for_idle(now);
        if (by_key_.size() > greatest_)
            forget(has_idle ? std::prev(candidates_.end()) : idle_or_oldest(now), forgotten);
        candidates_.splice(candidates_.begin(), added);
        return made;
    }

    std::size_t size() const {
        std::lock_guard const lock(mutex_);
        return by_key_.size();
    }

    std::uint64_t forgotten_in_use() const {
        std::lock_guard const lock(mutex_);
        return forgotten_in_use_;
    }

    std::vector<std::pair<std::string, std::weak_ptr<void>>> all() const {
        std::vector<std::pair<std::string, std::weak_ptr<void>>> found;
        std::lock_guard const lock(mutex_);
        found.reserve(by_key_.size());
        for (entry const& each : candidates_)
            found.emplace_back(each.key, each.gate);
        for (auto each = busy_.rbegin(); each != busy_.rend(); ++each)
            found.emplace_back(each->key, each->gate);
        return found;
    }

private:
    struct entry {
        std::string key;
        std::shared_ptr<void> gate;
        bool is_busy = false; // in `busy_`, not in `candidates_`
    };
    using entries = std::list<entry>;

    static constexpr int most_looks = 64; // at one list, by one insertion

    std::shared_ptr<void> find_locked(std::string_view key) {
        auto const found = by_key_.find(key);
        if (found == by_key_.end())
            return nullptr;
        move(found->second, candidates_, candidates_.begin());
        return found->second->gate;
    }

    /// Moves an entry, which may be in either list.
    void move(entries::iterator which, entries& to, entries::iterator before) noexcept {
        if (which->is_busy && which == next_look_)
            ++next_look_;
        to.splice(before, which->is_busy ? busy_ : candidates_, which);
        which->is_busy = &to == &busy_;
    }

    bool is_idle(entry const& which, time_point now) const noexcept {
        return which.gate.use_count() == 1 && is_idle_(which.gate.get(), now);
    }

    /// Looks at a busy gate again, which may be idle now. Each busy gate has its turn.
    void look_again(time_point now) noexcept {
        if (next_look_ == busy_.end())
            next_look_ = busy_.begin();
        if (next_look_ == busy_.end())
            return;
        auto const which = next_look_++;
        if (is_idle(*which, now))
            move(which, candidates_, candidates_.end());
    }

    /// Moves busy gates away, until the last candidate is idle. Returns whether a candidate is idle.
    bool look_for_idle(time_point now) noexcept {
        for (int looks = 0; looks != most_looks && !candidates_.empty(); ++looks) {
            auto const last = std::prev(candidates_.end());
            if (is_idle(*last, now))
                return true;
            move(last, busy_, busy_.end());
        }
        return false;
    }

    /// Of the first 64 busy gates an idle one; otherwise the first that becomes idle by time alone; otherwise
    /// the oldest. A closed breaker with attempts in its window becomes idle by time alone. Precondition:
    /// `look_for_idle` has found no candidate, so some gates are busy.
    entries::iterator idle_or_oldest(time_point now) noexcept {
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

    void forget(entries::iterator which, entries& forgotten) noexcept {
        by_key_.erase(which->key);
        move(which, forgotten, forgotten.begin());
    }

    std::size_t const greatest_;
    idle_check const is_idle_;
    std::mutex mutable mutex_;
    entries candidates_; // the most recently used first
    entries busy_;       // held, or not idle at the last look; the latest is the last
    entries::iterator next_look_ = busy_.end();
    std::unordered_map<std::string_view, entries::iterator> by_key_; // views of the entries
    std::uint64_t forgotten_in_use_ = 0;
};

key_table::key_table(std::size_t greatest, idle_check is_idle)
    : lists_(greatest == 0 ? nullptr : std::make_unique<lists>(greatest, is_idle)) {
    if (!lists_)
        refuse("keyed_gates.greatest", "0", "must be positive");
}

key_table::~key_table() = default;

std::shared_ptr<void> key_table::find(std::string_view key) {
    return lists_->find(key);
}

std::shared_ptr<void> key_table::insert(std::string_view key, std::shared_ptr<void> made) {
    return lists_->insert(key, std::move(made));
}

std::size_t key_table::size() const {
    return lists_->size();
}

std::uint64_t key_table::forgotten_in_use() const {
    return lists_->forgotten_in_use();
}

std::vector<std::pair<std::string, std::weak_ptr<void>>> key_table::all() const {
    return lists_->all();
}

} // namespace asio_retry::detail
