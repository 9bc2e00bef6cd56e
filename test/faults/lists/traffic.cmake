# Mistakes in budgets, breakers, throttles and limits.

noticed_by(tests_of_traffic)

# --- retry_budget

fault(retry_budget_fades_what_it_keeps src/traffic/retry_budget.cpp
    [[(before > keep_ ? keep_ + left : before)]] [[(keep_ + left)]])

fault(retry_budget_never_fades src/traffic/retry_budget.cpp
    [[(before > keep_ ? keep_ + left : before)]] [[before]])

fault(retry_budget_counts_time_twice src/traffic/retry_budget.cpp
    [[        if (folded_at_.compare_exchange_weak(begin, end))
            return begin]] [[        if (true)
            return begin]])

fault(retry_budget_turns_time_back src/traffic/retry_budget.cpp
    [[    while (begin < end)]] [[    while (begin != end)]])

fault(retry_budget_fades_from_the_epoch src/traffic/retry_budget.cpp
    [[return begin == never_folded ?]] [[return begin == end ?]])

fault(retry_budget_adds_what_was_earned_long_ago src/traffic/retry_budget.cpp
    [[billionths(x > 0 ? all * -std::expm1(-x) / x : all);]] [[billionths(all);]])

fault(retry_budget_pays_for_all_that_was_earned_before_the_first_look src/traffic/retry_budget.cpp
    [[in_windows(*earned_over) : std::numeric_limits<double>::infinity();]] [[in_windows(*earned_over) : 0;]])

fault(retry_budget_lets_fade_what_a_quiet_client_earns src/traffic/retry_budget.cpp
    [[        after = std::max(after, std::min(keep_, before + whole_gain));
]] [[]])

fault(retry_budget_earns_the_same_again src/traffic/retry_budget.cpp
    [[earnings_.exchange(0);]] [[earnings_.load();]])

fault(retry_budget_grants_less_than_one src/traffic/retry_budget.cpp
    [[while (left >= one_retry)]] [[while (left > 0)]])

fault(retry_budget_needs_more_than_one src/traffic/retry_budget.cpp
    [[while (left >= one_retry)]] [[while (left > one_retry)]])

fault(retry_budget_wraps_round src/traffic/retry_budget.cpp
    [[        after = std::min(after, static_cast<std::int64_t>(greatest_balance));
]] [[]])

fault(retry_budget_has_a_floor_by_default src/traffic/retry_budget.cpp
    [[    if (options_.per_second == 0)
        return false;
]] [[]])

fault(retry_budget_saves_up_its_floor src/traffic/retry_budget.cpp
    [[saturating_add(now, extra_interval_).time_since_epoch().count();]] [[saturating_add(time_point(duration(next_extra_.load())), extra_interval_).time_since_epoch().count();]])

fault(retry_budget_gives_back_nothing src/traffic/retry_budget.cpp
    [[    balance_.fetch_add(one_retry);]] [[]])

fault(retry_budget_earns_by_what_fails src/traffic/retry_budget.cpp
    [[: end.outcome == attempt_end::how::succeeded;]] [[: end.outcome != attempt_end::how::abandoned;]])

fault(retry_budget_earns_by_retries_too src/traffic/retry_budget.cpp
    [[? end.number == 1 &&]] [[?]])

fault(retry_budget_takes_every_ratio src/traffic/retry_budget.cpp
    [[    detail::share("retry_budget.ratio", o.ratio);
]] [[]])

fault(retry_budget_rounds_down src/traffic/retry_budget.cpp
    [[std::round(retries * one_retry)]] [[std::floor(retries * one_retry)]])

# --- token_budget

fault(token_budget_overflows src/traffic/token_budget.cpp
    [[std::min(capacity_, before + amount)]] [[before + amount]])

fault(token_budget_owes src/traffic/token_budget.cpp
    [[std::max<std::int64_t>(0, before - amount)]] [[before - amount]])

fault(token_budget_needs_no_more_than_its_threshold src/traffic/token_budget.cpp
    [[return before > *threshold_;]] [[return before >= *threshold_;]])

fault(token_budget_costs_although_it_has_a_threshold src/traffic/token_budget.cpp
    [[    if (threshold_)
        return 0;
]] [[]])

fault(token_budget_grants_on_credit src/traffic/token_budget.cpp
    [[while (before >= cost)]] [[while (before > 0)]])

fault(token_budget_mixes_up_costs src/traffic/token_budget.cpp
    [[return timeout_cost_;]] [[return throttled_cost_;]])

fault(token_budget_refunds_first_attempts src/traffic/token_budget.cpp
    [[refund_ && end.number > 1 ?]] [[refund_ ?]])

fault(token_budget_takes_for_permanent_failures src/traffic/token_budget.cpp
    [[if (end.kind != failure_kind::permanent || end.said.forbids())]] [[if (end.kind != failure_kind::none)]])

fault(token_budget_begins_full src/traffic/token_budget.cpp
    [[balance_(millionths(options.initial.value_or(options.capacity)))]] [[balance_(millionths(options.capacity))]])

fault(grpc_tokens_count_all_decimals src/traffic/token_budget.cpp
    [[std::floor(token_ratio * 1000 + 1e-9) / 1000;]] [[token_ratio;]])

fault(grpc_tokens_lose_a_thousandth src/traffic/token_budget.cpp
    [[std::floor(token_ratio * 1000 + 1e-9) / 1000;]] [[std::floor(token_ratio * 1000) / 1000;]])

fault(grpc_tokens_allow_retries_down_to_nothing src/traffic/token_budget.cpp
    [[options.threshold = max_tokens / 2;]] [[options.threshold = 0;]])

fault(aws_tokens_are_those_of_2016 src/traffic/token_budget.cpp
    [[    options.cost = 14;]] [[    options.cost = 5;]])

# --- window_budget and share_budget

fault(window_budget_has_eleven_slots src/traffic/window_budget.cpp
    [[duration(options.ttl) / slot_count)]] [[duration(options.ttl) / (slot_count - 1))]])

fault(window_budget_forgets_one_slot_at_a_time src/traffic/window_budget.cpp
    [[std::min<duration::rep>(passed, slot_count));]] [[std::min<duration::rep>(passed, 1));]])

fault(window_budget_stays_in_its_slot src/traffic/window_budget.cpp
    [[        present_.fetch_add(steps);
]] [[]])

fault(window_budget_keeps_a_grid src/traffic/window_budget.cpp
    [[if (!slot_began_.compare_exchange_weak(began, at))]] [[if (!slot_began_.compare_exchange_weak(began, began + (at - began) / slot_length_.count() * slot_length_.count()))]])

fault(window_budget_earns_by_retries src/traffic/window_budget.cpp
    [[    if (number == 1) {]] [[    if (number > 0) {]])

fault(window_budget_has_no_reserve src/traffic/window_budget.cpp
    [[while (sum + reserve_ >= withdrawal_)]] [[while (sum >= withdrawal_)]])

fault(window_budget_rounds_its_cost_up src/traffic/window_budget.cpp
    [[std::min(scale / ratio, greatest)]] [[std::min(std::ceil(scale / ratio), greatest)]])

fault(window_budget_gives_back_what_counts_no_more src/traffic/window_budget.cpp
    [[        while (count > 0)]] [[        while (count > -1000)]])

fault(window_budget_gives_back_the_latest_retry src/traffic/window_budget.cpp
    [[        auto& retries = slots_[(last + i) % slot_count].retries;]] [[        auto& retries = slots_[(last + 1 + slot_count - i) % slot_count].retries;]])

fault(share_budget_forgets_the_sleepers src/traffic/share_budget.cpp
    [[compare_exchange_weak(counts, counts + retry_of_many))]] [[compare_exchange_weak(counts, counts))]])

fault(share_budget_grants_one_more src/traffic/share_budget.cpp
    [[if (retries_in(counts) >=]] [[if (retries_in(counts) >]])

fault(share_budget_ends_retries_that_have_not_begun src/traffic/share_budget.cpp
    [[    else if (end.after != failure_kind::none)]] [[    else if (true)]])

fault(share_budget_has_no_least src/traffic/share_budget.cpp
    [[std::max<std::uint64_t>(options_.min_retries, allowed)]] [[allowed]])

# --- keyed_gates

fault(keyed_gates_forget_the_oldest include/asio_retry/traffic/keyed_gates.hpp
    [[        by_age_.splice(by_age_.begin(), by_age_, found->second);
]] [[]])

fault(keyed_gates_forget_nothing include/asio_retry/traffic/keyed_gates.hpp
    [[if (by_age_.size() > greatest_)]] [[if (by_age_.size() > greatest_ + 1000)]])

fault(keyed_gates_forget_at_the_greatest_number include/asio_retry/traffic/keyed_gates.hpp
    [[if (by_age_.size() > greatest_)]] [[if (by_age_.size() >= greatest_)]])

fault(keyed_gates_replace_what_another_has_made include/asio_retry/traffic/keyed_gates.hpp
    [[        if (auto known = find_locked(key)) // another thread was faster
            return known;
]] [[]])

# --- adaptive_throttle

fault(throttle_does_not_count_what_it_refuses src/traffic/adaptive_throttle.cpp
    [[    window_.add({.requests = 1});
    if (rejected > 0 && drawn_share(source_) < rejected)
        return {time_point::max(), error::client_throttled};]] [[    if (rejected > 0 && drawn_share(source_) < rejected)
        return {time_point::max(), error::client_throttled};
    window_.add({.requests = 1});]])

fault(throttle_refuses_all src/traffic/adaptive_throttle.cpp
    [[0.0, max_rejection_);]] [[0.0, 1.0);]])

fault(throttle_takes_answers_for_failures src/traffic/adaptive_throttle.cpp
    [[end.outcome == attempt_end::how::succeeded || end.kind == failure_kind::permanent]] [[end.outcome == attempt_end::how::succeeded]])

fault(throttle_counts_what_was_abandoned src/traffic/adaptive_throttle.cpp
    [[        window_.subtract({.requests = 1}, end.now);
]] [[]])

fault(throttle_does_not_look_at_the_time src/traffic/adaptive_throttle.cpp
    [[    window_.advance(now);
    return rejection_now();]] [[    return rejection_now();]])

fault(throttle_divides_by_one_less src/traffic/adaptive_throttle.cpp
    [[/ (requests + 1)]] [[/ requests]])

fault(throttle_has_no_seed src/traffic/adaptive_throttle.cpp
    [[source_(options.seed == 0 ? entropy_seed() : options.seed)]] [[source_(entropy_seed())]])

fault(slots_are_forgotten_one_too_late include/asio_retry/detail/traffic/slot_window.hpp
    [[slot - static_cast<std::int64_t>(SlotCount) + 1)]] [[slot - static_cast<std::int64_t>(SlotCount) + 2)]])

fault(slots_before_the_epoch_are_one include/asio_retry/detail/traffic/slot_window.hpp
    [[(std::numeric_limits<std::int64_t>::min)() / 2;]] [[0;]])

fault(slots_turn_time_back include/asio_retry/detail/traffic/slot_window.hpp
    [[        if (slot <= newest_)
            return;
]] [[        if (slot <= newest_) {
            newest_ = slot;
            return;
        }
]])

fault(slots_of_what_is_abandoned_are_the_newest_alone include/asio_retry/detail/traffic/slot_window.hpp
    [[std::int64_t slot = slot_of(then);]] [[std::int64_t slot = std::max(slot_of(then), newest_);]])

fault(slots_of_what_is_abandoned_are_those_of_its_time_alone include/asio_retry/detail/traffic/slot_window.hpp
    [[for (; slot <= newest_; ++slot)]] [[for (std::int64_t last = slot; slot <= last; ++slot)]])

# --- circuit_breaker

fault(breaker_needs_more_than_its_rate src/traffic/circuit_breaker.cpp
    [[static_cast<double>(failures) / all >= options_.failure_rate]] [[static_cast<double>(failures) / all > options_.failure_rate]])

fault(breaker_opens_too_soon src/traffic/circuit_breaker.cpp
    [[if (attempts < options_.min_attempts)]] [[if (attempts + 1 < options_.min_attempts)]])

fault(breaker_takes_limits_for_failures src/traffic/circuit_breaker.cpp
    [[(end.kind == failure_kind::transient ||]] [[(end.kind == failure_kind::throttled || end.kind == failure_kind::transient ||]])

fault(breaker_counts_no_timeouts src/traffic/circuit_breaker.cpp
    [[end.kind == failure_kind::timeout ||
]] [[
]])

fault(breaker_calls_slow_what_takes_as_long src/traffic/circuit_breaker.cpp
    [[end.took > options_.slow]] [[end.took >= options_.slow]])

fault(breaker_is_slow_although_that_is_off src/traffic/circuit_breaker.cpp
    [[(options_.slow_rate > 0 && ]] [[(]])

fault(breaker_forgets_failures_in_a_row_at_none src/traffic/circuit_breaker.cpp
    [[failed ? failures_in_row_ + 1 : 0;]] [[failures_in_row_ + (failed ? 1 : 0);]])

fault(breaker_hears_from_before src/traffic/circuit_breaker.cpp
    [[    if (began < heard_from_)
        return;
]] [[]])

fault(breaker_hears_from_the_first_probe_on src/traffic/circuit_breaker.cpp
    [[    heard_from_ = open_until_;]] [[    heard_from_ = open_until_ + duration(2);]])

fault(breaker_waits_for_an_abandoned_probe src/traffic/circuit_breaker.cpp
    [[    if (state_ == breaker_state::half_open)
        free_place(began);]] [[    if (state_ == breaker_state::half_open && !is_abandoned)
        free_place(began);]])

fault(breaker_frees_a_place_for_what_is_abandoned_from_before src/traffic/circuit_breaker.cpp
    [[    if (began < heard_from_)
        return;
]] [[    if (began < heard_from_) {
        if (is_abandoned && !places_.empty())
            places_.erase(places_.begin());
        return;
    }
]])

fault(throttle_takes_away_others_for_what_is_forgotten include/asio_retry/detail/traffic/slot_window.hpp
    [[        if (slot <= newest_ - static_cast<std::int64_t>(SlotCount))
            return;
]] [[        slot = std::max(slot, newest_ - static_cast<std::int64_t>(SlotCount) + 1);
]])

fault(breaker_waits_for_a_hung_probe src/traffic/circuit_breaker.cpp
    [[elapsed_between(taken, now) >= options_.open_cap]] [[elapsed_between(taken, now) >= duration::max()]])

fault(breaker_frees_the_place_of_another src/traffic/circuit_breaker.cpp
    [[    if (later != places_.begin()) // or its place has been taken from it
        places_.erase(std::prev(later));]] [[    if (!places_.empty())
        places_.erase(places_.begin());]])

fault(breaker_lets_probes_begin_that_have_succeeded src/traffic/circuit_breaker.cpp
    [[if (places_.size() + succeeded_ >= options_.probes)]] [[if (places_.size() >= options_.probes)]])

fault(breaker_closes_after_one_success src/traffic/circuit_breaker.cpp
    [[} else if (++succeeded_ >= options_.probes) {]] [[} else if (++succeeded_ >= 1) {]])

fault(breaker_stays_open_as_long_as_before src/traffic/circuit_breaker.cpp
    [[static_cast<double>(open_length_.count()) * options_.growth;]] [[static_cast<double>(open_length_.count());]])

fault(breaker_stays_open_for_ever_longer src/traffic/circuit_breaker.cpp
    [[                           : duration(options_.open_cap);]] [[                           : duration(static_cast<duration::rep>(longer));]])

fault(breaker_remembers_how_long_it_was_open src/traffic/circuit_breaker.cpp
    [[    failures_in_row_ = 0;
    open_length_ = options_.open_for;]] [[    failures_in_row_ = 0;]])

fault(breaker_remembers_what_was src/traffic/circuit_breaker.cpp
    [[    window_.clear();
]] [[]])

fault(breaker_lets_threads_begin_that_are_late src/traffic/circuit_breaker.cpp
    [[    if (now < open_until_) // another]] [[    if (state_ == breaker_state::open && now < open_until_) // another]])

fault(breaker_is_no_longer_isolated_after_a_while src/traffic/circuit_breaker.cpp
    [[    case breaker_state::isolated:
        return {time_point::max(), error::circuit_open};
    case breaker_state::open:]] [[    case breaker_state::isolated:
    case breaker_state::open:]])

fault(breaker_needs_more_than_the_last_attempts src/traffic/circuit_breaker.cpp
    [[        o.min_attempts = std::min(o.min_attempts, o.last);]] [[        (void)0;]])

fault(breaker_forgets_half_of_the_last_attempts src/traffic/failure_window.cpp
    [[    std::ranges::fill(last_, counts());
]] [[]])

fault(breaker_keeps_the_sums_of_the_last_attempts src/traffic/failure_window.cpp
    [[    total_of_last_ -= last_[next_];
]] [[]])

# --- limits and pauses

fault(aimd_rounds_up src/traffic/concurrency_limit.cpp
    [[static_cast<std::uint32_t>(limit_ * options_.backoff_ratio);]] [[static_cast<std::uint32_t>(limit_ * options_.backoff_ratio + 0.999);]])

fault(aimd_grows_where_it_is_not_used src/traffic/concurrency_limit.cpp
    [[std::uint64_t(in_flight) * 2 >= limit_]] [[std::uint64_t(in_flight) * 3 >= limit_]])

fault(aimd_wraps_round src/traffic/concurrency_limit.cpp
    [[std::uint64_t(in_flight) * 2]] [[in_flight * 2]])

fault(aimd_drops_what_takes_as_long src/traffic/concurrency_limit.cpp
    [[rtt > options_.timeout]] [[rtt >= options_.timeout]])

fault(gradient_begins_with_nine src/traffic/concurrency_limit.cpp
    [[first_ones = 10;]] [[first_ones = 9;]])

fault(gradient_believes_the_past src/traffic/concurrency_limit.cpp
    [[        usual_ = usual * 0.95;]] [[        usual_ = usual;]])

fault(gradient_falls_to_nothing src/traffic/concurrency_limit.cpp
    [[0.5, 1.0);]] [[0.0, 1.0);]])

fault(limit_is_one_too_many include/asio_retry/traffic/concurrency_limit.hpp
    [[while (count < limit())]] [[while (count <= limit())]])

fault(limit_learns_from_every_failure include/asio_retry/traffic/concurrency_limit.hpp
    [[(end.kind == failure_kind::timeout ||]] [[(end.kind != failure_kind::none || end.kind == failure_kind::timeout ||]])

fault(limit_does_not_count_the_one_that_ended include/asio_retry/traffic/concurrency_limit.hpp
    [[algorithm_.update(end.took, count, !succeeded);]] [[algorithm_.update(end.took, count - 1, !succeeded);]])

fault(limit_leaves_it_to_the_algorithm include/asio_retry/traffic/concurrency_limit.hpp
    [[        limit_.store(algorithm_.limit(), std::memory_order_relaxed);
]] [[]])

fault(cooldown_is_of_what_was_said_last src/traffic/cooldown.cpp
    [[while (latest < over &&]] [[while (latest != over &&]])

fault(cooldown_waits_for_hours src/traffic/cooldown.cpp
    [[std::min(end.said.delay(), greatest_)]] [[end.said.delay()]])

fault(cooldown_heeds_what_was_abandoned src/traffic/cooldown.cpp
    [[    if (end.outcome != attempt_end::how::failed || asked]] [[    if (asked]])

# --- fleet_budget

fault(fleet_budget_begins_without_a_token src/traffic/fleet_budget.cpp
    [[    if (held_ == 0) {
        missed_ = true;]] [[    if (held_ == 0 && reserved_ == 0) {
        missed_ = true;]])

fault(fleet_budget_spends_no_token src/traffic/fleet_budget.cpp
    [[    --held_;
]] [[]])

fault(fleet_budget_keeps_the_place_of_what_has_begun src/traffic/fleet_budget.cpp
    [[    --held_;
    reserved_ -= reserved_ != 0;]] [[    --held_;]])

fault(fleet_budget_charges_first_attempts src/traffic/fleet_budget.cpp
    [[    if (number == 1)
        return now;
]] [[]])

fault(fleet_budget_asks_without_need src/traffic/fleet_budget.cpp
    [[needed == 0 || under_way_]] [[under_way_]])

fault(fleet_budget_asks_twice_at_once src/traffic/fleet_budget.cpp
    [[needed == 0 || under_way_ ||]] [[needed == 0 ||]])

fault(fleet_budget_asks_too_often src/traffic/fleet_budget.cpp
    [[ || now < ask_again_)
        return std::nullopt;]] [[)
        return std::nullopt;]])

fault(fleet_budget_asks_for_a_whole_batch_more src/traffic/fleet_budget.cpp
    [[needed + options_.batch - 1,]] [[needed + options_.batch,]])

fault(fleet_budget_wraps_round src/traffic/fleet_budget.cpp
    [[std::min<std::uint64_t>(needed + options_.batch - 1, std::numeric_limits<std::uint32_t>::max()));]] [[needed + options_.batch - 1);]])

fault(fleet_budget_tells_the_same_again src/traffic/fleet_budget.cpp
    [[    earned_ = 0;
    return fleet_request]] [[    return fleet_request]])

fault(fleet_budget_believes_any_answer src/traffic/fleet_budget.cpp
    [[held_ += std::min(tokens, under_way_->wanted);]] [[held_ += tokens;]])

fault(fleet_budget_doubles_past_the_greatest_interval src/traffic/fleet_budget.cpp
    [[bool const may_double = interval_ <= options_.greatest_interval / 2;]] [[bool const may_double = interval_ < options_.greatest_interval;]])

fault(fleet_budget_goes_on_asking_seldom src/traffic/fleet_budget.cpp
    [[interval_ = empty_ ? longer : duration(options_.interval);]] [[interval_ = empty_ ? longer : interval_;]])

fault(fleet_budget_reserves_from_an_empty_store src/traffic/fleet_budget.cpp
    [[empty_ = tokens == 0;]] [[empty_ = false;]])

fault(fleet_budget_reserves_one_too_many_from_an_empty_store src/traffic/fleet_budget.cpp
    [[reserved_ >= held_)]] [[reserved_ > held_)]])

fault(fleet_budget_refuses_when_the_interval_is_over src/traffic/fleet_budget.cpp
    [[empty_ && now < ask_again_ && reserved_]] [[empty_ && reserved_]])

fault(fleet_budget_loses_what_it_told_in_vain src/traffic/fleet_budget.cpp
    [[std::min(earned_ + under_way_->earned, most_earned);]] [[earned_;]])

fault(fleet_budget_has_what_it_holds_twice src/traffic/fleet_budget.cpp
    [[    earned_ %= whole_token;
]] [[]])

fault(fleet_budget_takes_an_unavailable_store_for_empty src/traffic/fleet_budget.cpp
    [[    empty_ = false;
    interval_]] [[    interval_]])

fault(fleet_budget_asks_an_unavailable_store_seldom src/traffic/fleet_budget.cpp
    [[    empty_ = false;
    interval_ = options_.interval;]] [[    empty_ = false;]])

fault(fleet_budget_forgets_who_came_too_early src/traffic/fleet_budget.cpp
    [[std::max<std::uint64_t>(reserved_, missed_)]] [[reserved_]])

fault(fleet_budget_remembers_who_came_too_early src/traffic/fleet_budget.cpp
    [[    missed_ = false;
    answered_]] [[    answered_]])

fault(fleet_budget_spends_what_did_not_begin src/traffic/fleet_budget.cpp
    [[        ++held_;
]] [[]])

fault(fleet_budget_returns_what_had_begun src/traffic/fleet_budget.cpp
    [[end.after == failure_kind::none) {]] [[end.after != failure_kind::timeout) {]])

fault(fleet_budget_earns_before_its_time src/traffic/fleet_budget.cpp
    [[    if (looked_) {
        now = std::max(now, *looked_);]] [[    if (!looked_)
        looked_ = now;
    {
        now = std::max(now, *looked_);]])

fault(fleet_budget_turns_time_back src/traffic/fleet_budget.cpp
    [[        now = std::max(now, *looked_);
]] [[]])

fault(fleet_budget_never_fades src/traffic/fleet_budget.cpp
    [[static_cast<double>(earned_) * std::exp(-x)]] [[static_cast<double>(earned_)]])

fault(fleet_budget_adds_what_was_earned_long_ago src/traffic/fleet_budget.cpp
    [[counted_of(x > 0 ? all * -std::expm1(-x) / x : all)]] [[counted_of(all)]])

fault(fleet_budget_keeps_tokens_for_ever src/traffic/fleet_budget.cpp
    [[    if (now < free_from || held_]] [[    if (held_ == 0 || held_]])

fault(fleet_budget_takes_reserved_tokens_away src/traffic/fleet_budget.cpp
    [[    held_ = reserved_;
]] [[    held_ = 0;
]])

fault(fleet_budget_lets_reserved_tokens_fade src/traffic/fleet_budget.cpp
    [[std::max(free_from, *looked_), now)]] [[free_from, now)]])

fault(fleet_budget_lets_no_lease_fade src/traffic/fleet_budget.cpp
    [[counted_of(static_cast<double>(held_ - reserved_) * faded)]] [[counted_of(static_cast<double>(held_ - reserved_))]])

fault(fleet_budget_swaps_its_arguments src/traffic/fleet_budget.cpp
    [[text_of(options_.capacity),
            text_of(options_.per_second)]] [[text_of(options_.per_second),
            text_of(options_.capacity)]])

# --- attempts on the wire

fault(previous_attempts_are_one_more src/traffic/attempt_histogram.cpp
    [[std::to_string(a.number - 1)]] [[std::to_string(a.number)]])

fault(previous_attempts_of_a_first_one_are_sent src/traffic/attempt_histogram.cpp
    [[return a.number > 1 ?]] [[return a.number > 0 ?]])

fault(previous_attempts_wrap_round src/traffic/attempt_histogram.cpp
    [[std::optional(held_sum(*before, 1))]] [[std::optional(*before + 1)]])

fault(previous_attempts_are_garbage_where_there_are_none src/traffic/attempt_histogram.cpp
    [[    if (text.empty())
        return 1;
]] [[]])

fault(previous_attempts_take_blanks_for_a_part src/traffic/attempt_histogram.cpp
    [[    text = detail::without_blanks(text);
]] [[]])

fault(histogram_wraps_round src/traffic/attempt_histogram.cpp
    [[return a > greatest_count - b ? greatest_count : a + b;]] [[return a + b;]])

fault(histogram_has_no_number_0 src/traffic/attempt_histogram.cpp
    [[std::clamp<std::uint64_t>(number, 1, last) - 1]] [[std::min<std::uint64_t>(number - 1, last - 1)]])

fault(histogram_counts_7_with_8 src/traffic/attempt_histogram.cpp
    [[std::clamp<std::uint64_t>(number, 1, last) - 1]] [[std::clamp<std::uint64_t>(number >= 7 ? 8 : number, 1, last) - 1]])

fault(histogram_has_a_share_of_first_attempts src/traffic/attempt_histogram.cpp
    [[retries / (first + retries)]] [[retries / first]])

fault(histogram_has_a_share_of_nothing src/traffic/attempt_histogram.cpp
    [[return retries > 0 ? retries / (first + retries) : 0;]] [[return retries / (first + retries);]])

fault(histogram_writes_zeros_at_the_end src/traffic/attempt_histogram.cpp
    [[    while (last > 1 && h.count(last) == 0)
        --last;
]] [[]])

fault(histogram_reads_a_ninth_number src/traffic/attempt_histogram.cpp
    [[number <= attempt_histogram::buckets; ++number) {
        auto const end]] [[number <= attempt_histogram::buckets + 1; ++number) {
        auto const end]])

fault(histogram_reads_an_empty_number src/traffic/attempt_histogram.cpp
    [[        if (!count)
            return std::nullopt;
        read.add(number, *count);]] [[        if (!count && !text.substr(0, end).empty())
            return std::nullopt;
        read.add(number, count.value_or(0));]])

fault(histogram_takes_blanks_for_a_part src/traffic/attempt_histogram.cpp
    [[detail::whole_number<std::uint64_t>(detail::without_blanks(text.substr(0, end)))]] [[detail::whole_number<std::uint64_t>(text.substr(0, end))]])

fault(counter_forgets_nothing_when_asked src/traffic/attempt_counter.cpp
    [[    window_.advance(now);
    attempt_histogram counted;]] [[    attempt_histogram counted;]])

fault(counter_counts_all_as_of_the_past src/traffic/attempt_counter.cpp
    [[    window_.advance(now);
    window_.add(one);]] [[    window_.add(one);]])

fault(counter_counts_8_with_7 src/traffic/attempt_counter.cpp
    [[(number, 1, one.of.size()) - 1]] [[(number, 1, one.of.size() - 1) - 1]])

fault(counter_reads_no_clock include/asio_retry/traffic/attempt_counter.hpp
    [[bool measures_time() const noexcept override { return true; }]] [[]])

fault(advisor_counts_the_first_attempt src/traffic/overload_advisor.cpp
    [[attempt_number > 1 ? whole_retry : 0]] [[attempt_number > 0 ? whole_retry : 0]])

fault(advisor_weighs_a_client_as_one_retry src/traffic/overload_advisor.cpp
    [[static_cast<std::uint64_t>(std::llround(sender.retry_share() * whole_retry))]] [[sender.retry_share() > 0 ? whole_retry : 0]])

fault(advisor_rounds_down src/traffic/overload_advisor.cpp
    [[static_cast<std::uint64_t>(std::llround(sender.retry_share() * whole_retry))]] [[static_cast<std::uint64_t>(sender.retry_share() * whole_retry)]])

fault(advisor_advises_without_requests src/traffic/overload_advisor.cpp
    [[return all.requests >= options_.min_requests && all]] [[return all]])

fault(advisor_needs_one_request_more src/traffic/overload_advisor.cpp
    [[all.requests >= options_.min_requests]] [[all.requests > options_.min_requests]])

fault(advisor_needs_more_than_the_share src/traffic/overload_advisor.cpp
    [[all.billionths >= least * all.requests]] [[all.billionths > least * all.requests]])

fault(advisor_divides_before_it_compares src/traffic/overload_advisor.cpp
    [[all.billionths >= least * all.requests]] [[all.share() >= options_.retry_share]])

fault(quantile_of_a_decimal_share_is_one_further src/traffic/latency_quantile.cpp
    [[std::ceil(exactly - exactly * 1e-15)]] [[std::ceil(exactly)]])

fault(advisor_forgets_nothing_when_asked src/traffic/overload_advisor.cpp
    [[    window_.advance(now);
    return window_.total();]] [[    return window_.total();]])

fault(advisor_has_a_share_of_nothing src/traffic/overload_advisor.cpp
    [[return requests == 0 ? 0 : ]] [[return ]])

fault(field_is_a_number_with_garbage src/policy/field_text.hpp
    [[!std::ranges::all_of(text, is_digit)]] [[!is_digit(text.front())]])

# --- idempotency_key

fault(key_is_of_version_1 src/traffic/idempotency_key.cpp
    [[ | 0x4000;]] [[ | 0x1000;]])

fault(key_keeps_bits_of_its_version src/traffic/idempotency_key.cpp
    [[(high & ~std::uint64_t(0xf000))]] [[high]])

fault(key_keeps_bits_of_its_variant src/traffic/idempotency_key.cpp
    [[(low & (~std::uint64_t(0) >> 2))]] [[low]])

fault(key_has_one_bit_less src/traffic/idempotency_key.cpp
    [[(~std::uint64_t(0) >> 2)]] [[(~std::uint64_t(0) >> 3)]])

fault(key_has_half_of_its_randomness src/traffic/idempotency_key.cpp
    [[low = entropy_seed();]] [[low = high;]])

fault(key_has_its_halves_the_other_way_round src/traffic/idempotency_key.cpp
    [[{high_, low_})]] [[{low_, high_})]])

fault(key_has_a_dash_elsewhere src/traffic/idempotency_key.cpp
    [[at == 13 ||]] [[at == 12 ||]])

fault(key_is_not_quoted src/traffic/idempotency_key.cpp
    [[return '"' + key.to_string() + '"';]] [[return key.to_string();]])

fault(gradient_divides_by_nothing src/traffic/concurrency_limit.cpp
    [[std::max(static_cast<double>(took.count()), 1.0);]] [[static_cast<double>(took.count());]])

fault(gradient_forgets_at_twice_the_speed src/traffic/concurrency_limit.cpp
    [[if (usual / rtt > 2)]] [[if (usual / rtt >= 2)]])

fault(gradient_has_a_window_of_one_less src/traffic/concurrency_limit.cpp
    [[2.0 / (options_.long_window + 1.0);]] [[2.0 / options_.long_window;]])

fault(throttle_counts_an_answer_as_of_the_past src/traffic/adaptive_throttle.cpp
    [[        window_.advance(end.now);
]] [[]])

fault(slots_before_the_epoch_are_rounded_up include/asio_retry/detail/traffic/slot_window.hpp
    [[since / slot_length_ - (since % slot_length_ < duration::zero() ? 1 : 0);]] [[since / slot_length_;]])

fault(share_budget_allows_a_retry_less_than_a_decimal_share src/traffic/share_budget.cpp
    [[(exactly + exactly * 1e-15)]] [[(exactly)]])

fault(overload_advisor_rounds_its_share_up src/traffic/overload_advisor.cpp
    [[static_cast<std::uint64_t>(exactly + exactly * 1e-15)]] [[static_cast<std::uint64_t>(std::llround(exactly))]])

fault(overload_advisor_has_no_share_that_is_small src/traffic/overload_advisor.cpp
    [[std::max<std::uint64_t>(1,]] [[std::max<std::uint64_t>(0,]])

fault(token_budget_takes_nothing_where_retries_are_forbidden src/traffic/token_budget.cpp
    [[ || end.said.forbids())]] [[)]])

fault(fleet_budget_wants_two_tokens_for_one_retry src/traffic/fleet_budget.cpp
    [[std::max<std::uint64_t>(reserved_, missed_)]] [[reserved_ + std::uint64_t(missed_)]])
