#include <asio_retry/permanent.hpp>

#include <boost/system/system_error.hpp>

#include <forward_list>
#include <mutex>
#include <string>
#include <typeinfo>
#include <utility>

namespace asio_retry {
namespace {

/// Of the codes of another category that are permanent errors.
class permanent_category final : public boost::system::error_category {
public:
    explicit permanent_category(boost::system::error_category const& inner) noexcept
        : inner_(inner) {}

    boost::system::error_category const& inner() const noexcept { return inner_; }

    char const* name() const noexcept override { return inner_.name(); }
    std::string message(int value) const override { return inner_.message(value); }
    bool failed(int value) const noexcept override { return inner_.failed(value); }
    boost::system::error_condition default_error_condition(int value) const noexcept override {
        return inner_.default_error_condition(value);
    }

private:
    boost::system::error_category const& inner_;
};

/// Never destroyed: a code may be looked at for as long as the process lives.
permanent_category const& permanent_category_of(boost::system::error_category const& inner) {
    static auto& categories = *new std::forward_list<permanent_category>;
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    for (permanent_category const& category : categories)
        if (category.inner() == inner)
            return category;
    return categories.emplace_front(inner);
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
    return "permanent error";
}

permanent_error::operator error_code() const noexcept {
    if (detail::wraps_standard(code_)) // its value and category are not its own
        return code_;
    try {
        return error_code(code_.value(), permanent_category_of(code_.category()));
    } catch (...) {
        return code_;
    }
}

std::optional<permanent_error> detail::find_permanent(std::exception_ptr thrown) {
    while (thrown) {
        std::exception_ptr inner;
        auto const look_into = [&](auto const& outer) {
            if (auto const* nested = dynamic_cast<std::nested_exception const*>(&outer))
                inner = nested->nested_ptr();
        };
        try {
            std::rethrow_exception(thrown);
        } catch (permanent_error const& found) {
            return found;
        } catch (boost::system::system_error const& outer) { // what awaiting makes of a code
            if (auto const code = find_permanent(outer.code()))
                return permanent_error(exception_of(*code));
            look_into(outer);
        } catch (std::nested_exception const& outer) {
            inner = outer.nested_ptr();
        } catch (...) {
        }
        thrown = std::move(inner);
    }
    return std::nullopt;
}

std::optional<error_code> detail::find_permanent(error_code const& code) noexcept {
    auto const& category = code.category();
    if (typeid(category) != typeid(permanent_category))
        return std::nullopt;
    return error_code(code.value(), static_cast<permanent_category const&>(category).inner());
}

error_code detail::completion_code_of(std::exception_ptr const& thrown) {
    auto const permanent = find_permanent(thrown);
    return permanent ? error_code(*permanent) : code_of(thrown);
}

} // namespace asio_retry
