#include "limits_of_time.hpp"

#include <algorithm>
#include <iterator>

namespace asio_retry::tool {

limits_of_time::limits_of_time(retry_settings const& settings)
    : interrupting_(settings.total_timeout)
    , clamp_(settings.clamp) {
    for (auto const& limit : {settings.max_elapsed, settings.max_waited, settings.total_timeout})
        if (limit)
            earliest_ = std::min(earliest_.value_or(duration::max()), *limit);
}

bool limits_of_time::allow(duration waited) const {
    return end_of_wait(duration::zero(), waited) == waited;
}

duration limits_of_time::end_of_wait(duration passed, duration delay) const {
    if (clamp_ && interrupting_) {
        duration const left = *interrupting_ - passed;
        delay = std::min(delay, left - left / 10);
    }
    return std::min(saturating_sum(passed, delay), earliest_.value_or(duration::max()));
}

void limits_of_time::add(explained_failure const& before, explained_failure& to) const {
    to.cumulative_least = end_of_wait(before.cumulative_least, to.least);
    to.cumulative_mean = end_of_wait(before.cumulative_mean, to.mean);
    to.cumulative_greatest = end_of_wait(before.cumulative_greatest, to.greatest);
    to.cumulative_usual = end_of_wait(before.cumulative_usual, to.usual);
}

/// Cuts the wait short: the more time has passed, the less is left to wait.
void limits_of_time::cut_short(explained_failure const& before, explained_failure& of) const {
    of.least = end_of_wait(before.cumulative_greatest, of.least) - before.cumulative_greatest;
    of.mean = of.cumulative_mean - before.cumulative_mean;
    of.greatest = end_of_wait(before.cumulative_least, of.greatest) - before.cumulative_least;
    of.usual = end_of_wait(before.cumulative_least, of.usual) - before.cumulative_least;
}

bool limits_of_time::keep(std::vector<explained_failure>& failures) const {
    if (interrupting_ == duration::zero()) { // no attempt begins
        failures.clear();
        return true;
    }
    explained_failure passed{};
    for (auto each = failures.begin(); each != failures.end(); ++each) {
        duration const left = earliest_.value_or(duration::max()) - passed.cumulative_mean;
        bool const is_last = earliest_ && each->mean > left;
        if (is_last && (!clamp_ || left == duration::zero())) {
            failures.erase(each, failures.end());
            return true;
        }
        add(passed, *each);
        if (earliest_ && clamp_)
            cut_short(passed, *each);
        if (is_last) {
            failures.erase(std::next(each), failures.end());
            return true;
        }
        passed = *each;
    }
    return false;
}

} // namespace asio_retry::tool
