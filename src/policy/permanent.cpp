#include <asio_retry/permanent.hpp>

#include "policy/thrown_as.hpp"

#include <boost/system/system_error.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

namespace asio_retry {
namespace {

/// A category of permanent errors whose codes belong to another category.
class permanent_category final : public boost::system::error_category {
public:
    explicit permanent_category(boost::system::error_category const& inner) noexcept
        : inner_(inner) {}

    boost::system::error_category const& inner() const noexcept { return inner_; }

    char const* name() const noexcept override { return inner_.name(); }
    std::string message(int value) const override { return inner_.message(value); }
#if !defined(ASIO_RETRY_STANDALONE)
    bool failed(int value) const noexcept override { return inner_.failed(value); }
#endif
    boost::system::error_condition default_error_condition(int value) const noexcept override {
        return inner_.default_error_condition(value);
    }

private:
    boost::system::error_category const& inner_;
};

/// The categories in use: few, and never removed, because a code may be read as long as the process lives.
struct known_category {
    permanent_category category;
    known_category const* next;
};
constinit std::atomic<known_category const*> known_categories = nullptr;

permanent_category const* find(auto const& matches) noexcept {
    for (auto const* known = known_categories.load(std::memory_order_acquire); known; known = known->next)
        if (matches(known->category))
            return &known->category;
    return nullptr;
}

permanent_category const& permanent_category_of(boost::system::error_category const& inner) {
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    auto const is_of_inner = [&](permanent_category const& category) { return category.inner() == inner; };
    if (auto const* const category = find(is_of_inner))
        return *category;
    auto const* const added = new known_category{permanent_category(inner), known_categories};
    known_categories.store(added, std::memory_order_release);
    return added->category;
}

} // namespace

permanent_error::permanent_error(error_code const& code) noexcept
    : code_(detail::find_permanent(code).value_or(detail::unwrapped(code))) {}

permanent_error::permanent_error(std::exception_ptr e)
    : code_(code_of(e))
    , exception_(std::move(e)) {
    if (auto const innermost = detail::find_permanent(exception_))
        *this = *innermost;
}

char const* permanent_error::what() const noexcept {
    auto const* const inner = exception_ ? detail::thrown_as<std::exception>(exception_) : nullptr;
    return inner ? inner->what() : "permanent error";
}

permanent_error::operator error_code() const noexcept {
    if (!code_ || detail::wraps_standard(code_)) // such a code hides its real value and category
        return code_;
    try {
        return error_code(code_.value(), permanent_category_of(code_.category()));
    } catch (...) {
        return code_;
    }
}

std::optional<permanent_error> detail::find_permanent(std::exception_ptr thrown) {
    std::optional<permanent_error> found;
    while (thrown && !found) {
        std::exception_ptr inner;
        if (auto const* const permanent = thrown_as<permanent_error>(thrown)) {
            found = *permanent;
        } else {
            if (auto const* const outer = thrown_as<std::nested_exception>(thrown))
                inner = outer->nested_ptr();
            if (auto const* const outer = thrown_as<boost::system::system_error>(thrown)) // made by `co_await`
                if (auto const code = find_permanent(outer->code()))
                    found.emplace(exception_of(*code));
        }
        thrown = std::move(inner);
    }
    if (found && !found->code())
        found.emplace(make_error_code(error::operation_threw));
    return found;
}

std::optional<error_code> detail::find_permanent(error_code const& code) noexcept {
    auto const is_its_own = [&](permanent_category const& category) { return &category == &code.category(); };
    auto const* const category = find(is_its_own);
    return category ? std::optional(error_code(code.value(), category->inner())) : std::nullopt;
}

void detail::mark_permanent(error_code& error, std::exception_ptr& thrown) {
    permanent_error const marked = thrown ? permanent_error(thrown) : permanent_error(error);
    error = marked;
    thrown = std::make_exception_ptr(marked);
}

error_code detail::completion_code_of(std::exception_ptr const& thrown) {
    auto const permanent = find_permanent(thrown);
    return permanent ? error_code(*permanent) : code_of(thrown);
}

} // namespace asio_retry
