#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::world {

/// What has become of the handler of one operation, join, drain or tick.
struct ending {
    std::atomic<char const*> form;
    int const place;
    std::atomic<int> called = 0, alive = 0;
    std::atomic<bool> may_be_lost = false; ///< somebody has dropped an attempt, or its context has ended

    ending(char const* given_form, int given_place)
        : form(given_form)
        , place(given_place) {}
};

/// A handler for every signature, which cannot be copied. It counts its calls, and whether it is still there.
class witness {
public:
    explicit witness(ending& told) noexcept
        : told_(&told) {
        ++told_->alive;
    }
    witness(witness&& other) noexcept
        : told_(std::exchange(other.told_, nullptr)) {}
    witness& operator=(witness&& other) noexcept {
        std::swap(told_, other.told_);
        return *this;
    }
    ~witness() {
        if (told_)
            --told_->alive;
    }

    template <typename... Values>
    void operator()(Values const&...) const noexcept {
        ++told_->called;
    }

private:
    ending* told_;
};

class endings {
public:
    ending& add(char const* form, int place) {
        std::lock_guard const lock(mutex_);
        return all_.emplace_back(form, place);
    }

    /// The forms whose handlers are still there.
    std::string alive() const {
        std::lock_guard const lock(mutex_);
        std::string forms;
        for (ending const& each : all_)
            if (each.alive != 0)
                forms += std::string(forms.empty() ? "" : ", ") + each.form.load();
        return forms;
    }

    bool are_alive() const {
        std::lock_guard const lock(mutex_);
        return std::ranges::any_of(all_, [](ending const& each) { return each.alive != 0; });
    }

    std::size_t size() const {
        std::lock_guard const lock(mutex_);
        return all_.size();
    }

    void lose(int place) {
        std::lock_guard const lock(mutex_);
        for (ending& each : all_)
            if (each.place == place)
                each.may_be_lost = true;
    }

    void audit(std::vector<std::string>& violations) const {
        std::lock_guard const lock(mutex_);
        for (ending const& each : all_) {
            if (each.alive != 0)
                violations.push_back(std::string(each.form.load()) + ": its handler leaks");
            if (each.called > 1)
                violations.push_back(std::string(each.form.load()) + ": its handler was called twice");
            if (each.called == 0 && !each.may_be_lost)
                violations.push_back(std::string(each.form.load()) + ": its handler was not called");
        }
    }

private:
    std::mutex mutable mutex_;
    std::deque<ending> all_;
};

} // namespace asio_retry::world
