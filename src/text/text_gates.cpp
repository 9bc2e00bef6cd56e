#include "text/text_gates.hpp"

#include "traffic/option_rules.hpp"

#include <memory>
#include <utility>

namespace asio_retry::detail {
namespace {

/// The type of this deleter marks a gate that a text has made: a `shared_ptr` can carry no other mark.
template <typename Gate>
struct deleter_of_text {
    void operator()(Gate* made) const noexcept { delete made; }
};

/// Owns another gate, for the mark alone.
struct keeper_of_text {
    std::shared_ptr<retry_gate> kept;
    void operator()(retry_gate*) const noexcept {}
};

template <typename Gate, typename... Numbers>
std::shared_ptr<Gate> made_by_text(Numbers&&... numbers) {
    return std::shared_ptr<Gate>(new Gate(std::forward<Numbers>(numbers)...), deleter_of_text<Gate>());
}

bool is_made_by_text(std::shared_ptr<retry_gate> const& gate) noexcept {
    return std::get_deleter<deleter_of_text<rate_limit>>(gate) ||
           std::get_deleter<deleter_of_text<concurrency_limit<fixed_limit>>>(gate) ||
           std::get_deleter<keeper_of_text>(gate);
}

} // namespace

std::shared_ptr<retry_gate> make_rate_limit(std::int64_t n, duration per, std::int64_t burst) {
    std::uint32_t const at_most = count("rate_limit.n", n), at_once = count("rate_limit.burst", burst);
    return made_by_text<rate_limit>(at_most, per, at_once);
}

std::shared_ptr<retry_gate> make_concurrency_limit(fixed_limit limit) {
    return made_by_text<concurrency_limit<fixed_limit>>(limit);
}

std::shared_ptr<retry_gate> make_hedge_share(double share, std::int64_t burst) {
    std::shared_ptr<retry_gate> made = hedge_share(share, burst);
    retry_gate* const gate = made.get();
    return std::shared_ptr<retry_gate>(gate, keeper_of_text{std::move(made)});
}

std::shared_ptr<rate_limit> rate_limit_of_text(std::shared_ptr<retry_gate> const& gate) noexcept {
    bool const is_of_text = std::get_deleter<deleter_of_text<rate_limit>>(gate) != nullptr;
    return is_of_text ? std::static_pointer_cast<rate_limit>(gate) : nullptr;
}

gate_numbers numbers_of(retry_gate const* gate) noexcept {
    if (auto const* const rate = dynamic_cast<rate_limit const*>(gate))
        return rate->numbers();
    if (auto const* const places = dynamic_cast<concurrency_limit<fixed_limit> const*>(gate);
        places && !places->has_queue())
        return fixed_limit_number{places->limit()};
    if (auto const* const budget = dynamic_cast<token_budget const*>(gate))
        if (auto const numbers = numbers_of_hedge_share(*budget))
            return *numbers;
    return {};
}

bool are_same_in_text(std::shared_ptr<retry_gate> const& a, std::shared_ptr<retry_gate> const& b) noexcept {
    return is_made_by_text(a) && is_made_by_text(b) && numbers_of(a.get()) == numbers_of(b.get());
}

} // namespace asio_retry::detail
