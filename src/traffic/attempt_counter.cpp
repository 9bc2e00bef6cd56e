#include <asio_retry/traffic/attempt_counter.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>

namespace asio_retry {

attempt_counter::attempt_counter(saturating_duration window)
    : window_(detail::positive("attempt_counter.window", window)) {}

attempt_histogram attempt_counter::recent(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    window_.advance(now);
    attempt_histogram counted;
    for (std::size_t i = 0; i != attempt_histogram::buckets; ++i)
        counted.add(i + 1, window_.total().of[i]);
    return counted;
}

bool attempt_counter::is_idle(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    return window_.is_new_at(now);
}

attempt_counter::counts attempt_counter::one(std::uint64_t number) noexcept {
    counts added;
    added.of[static_cast<std::size_t>(std::clamp<std::uint64_t>(number, 1, added.of.size()) - 1)] = 1;
    return added;
}

admission attempt_counter::admit(std::uint64_t number, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    window_.advance(now);
    window_.add(one(number));
    return now;
}

void attempt_counter::on_end(attempt_end const& end) noexcept {
    if (!end.is_unbegun)
        return;
    std::lock_guard const lock(mutex_);
    window_.subtract(one(end.number), end.now);
}

} // namespace asio_retry
