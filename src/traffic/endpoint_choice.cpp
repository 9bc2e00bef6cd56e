#include <asio_retry/detail/traffic/endpoint_choice.hpp>

#include <asio_retry/error.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace asio_retry::detail {

endpoint_choice::endpoint_choice(std::shared_ptr<endpoint_table> table) noexcept
    : table_(std::move(table)) {}

endpoint_choice::endpoint_choice(endpoint_choice const& other) noexcept
    : table_(other.table_) {}

endpoint_choice::~endpoint_choice() {
    for (endpoint_attempt const& each : tried())
        if (each.runs) {
            attempt_end end;
            end.outcome = attempt_end::how::abandoned;
            end.number = each.number;
            end.now = each.began;
            table_->on_end(*each.at, end);
        }
}

admission endpoint_choice::choose(std::uint64_t number, time_point now) noexcept {
    std::shared_ptr<endpoint_record> chosen;
    admission const answer = table_->choose(tried(), now < put_off_until_, now, *dice_, chosen);
    if (answer.until > now) {
        if (answer.refusal == error::cooling_down)
            put_off(answer.until, now);
        return answer;
    }
    put_off_until_ = (time_point::min)();
    put_off_since_ = (time_point::max)();
    endpoint_attempt* const room = room_for(*chosen);
    if (!room) {
        attempt_end end;
        end.outcome = attempt_end::how::abandoned;
        end.number = number;
        end.now = now;
        table_->on_end(*chosen, end);
        return {(time_point::max)(), no_memory_error()};
    }
    for (endpoint_attempt* each = all(); each != all() + count_; ++each)
        if (each->at == chosen) // other attempts that run there
            each->last = number;
    *room = {std::move(chosen), number, number, now, true};
    return answer;
}

/// The operation waits only if no endpoint may be asked. It waits until the first may be asked, and at most as
/// long as the server has said.
pushback endpoint_choice::wish(pushback said, time_point now) noexcept {
    if (said.delay() == duration::zero())
        return said;
    time_point const first = std::min(table_->first_available(now), saturating_add(now, said.delay()));
    if (first <= now)
        return {};
    put_off(first, now);
    return pushback::after(elapsed_between(now, first));
}

void endpoint_choice::put_off(time_point until, time_point now) noexcept {
    put_off_until_ = until;
    put_off_since_ = std::min(put_off_since_, now);
}

void endpoint_choice::on_end(attempt_end const& end) noexcept {
    endpoint_attempt* const ended = running(end.number);
    if (!ended)
        return;
    ended->runs = false;
    table_->on_end(*ended->at, end);
}

std::shared_ptr<endpoint_record const> endpoint_choice::at(std::uint64_t number) const noexcept {
    return std::ranges::find_if(
               tried(), [&](endpoint_attempt const& each) { return each.runs && each.number == number; })
        ->at;
}

std::span<endpoint_attempt const> endpoint_choice::tried() const noexcept {
    return {many_ ? many_.get() : few_.data(), count_};
}

endpoint_attempt* endpoint_choice::running(std::uint64_t number) noexcept {
    endpoint_attempt* const end = all() + count_;
    endpoint_attempt* const found = std::find_if(
        all(), end, [&](endpoint_attempt const& each) { return each.runs && each.number == number; });
    return found == end ? nullptr : found;
}

/// The entry for a new attempt: the finished one of the same endpoint, else a free one, else the finished one
/// tried longest ago. Null if attempts run in all entries.
endpoint_attempt* endpoint_choice::room_for(endpoint_record const& at) noexcept {
    endpoint_attempt* longest_ago = nullptr;
    for (endpoint_attempt* each = all(); each != all() + count_; ++each) {
        if (each->runs)
            continue;
        if (each->at.get() == &at)
            return each;
        if (!longest_ago || each->last < longest_ago->last)
            longest_ago = each;
    }
    if (count_ < (many_ ? many : few) || grow())
        return all() + count_++;
    return longest_ago;
}

bool endpoint_choice::grow() noexcept {
    if (many_)
        return false;
    many_.reset(new (std::nothrow) endpoint_attempt[many]);
    if (!many_)
        return false;
    std::ranges::move(few_, many_.get());
    return true;
}

} // namespace asio_retry::detail
