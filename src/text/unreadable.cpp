#include "text/build.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>

namespace asio_retry::detail {
namespace {

/// An item that `to_string` writes for a callable or an object, and that no text can give back.
struct unreadable_item {
    std::string_view name, kind;
};

constexpr unreadable_item unreadable_items[] = {{"custom_backoff", "a callable"},
                                                {"custom_jitter", "a callable"},
                                                {"retry_if", "a callable"},
                                                {"when", "a callable"},
                                                {"max_attempts_when", "a callable"},
                                                {"on_retry", "a callable"},
                                                {"on_give_up", "a callable"},
                                                {"on_success", "a callable"},
                                                {"gate", "a gate"},
                                                {"nested_in", "an outer attempt"},
                                                {"classify", "a callable"},
                                                {"observe", "an observer"}};

/// These items can be read if they name kinds of failures.
bool may_be_readable(std::string_view name) {
    return name == "retry_if" || name == "when" || name == "max_attempts_when";
}

} // namespace

void refuse_unreadable(term const& t) {
    auto const item = std::ranges::find(unreadable_items, t.name, &unreadable_item::name);
    bool const stands_in = std::ranges::any_of(t.arguments, [](argument const& a) {
        return a.quoted.empty() && std::holds_alternative<stand_in>(a.value);
    });
    if (item != std::end(unreadable_items) && (stands_in || !may_be_readable(t.name)))
        fail(t.at, t.name + " stands for " + std::string(item->kind) + ", and " + std::string(item->kind) +
                       " cannot be read from text");
}

} // namespace asio_retry::detail
