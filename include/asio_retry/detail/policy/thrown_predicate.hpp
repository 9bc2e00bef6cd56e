#pragma once

#include <asio_retry/detail/policy/empty_function.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace asio_retry::detail {

/// A predicate of exceptions of one type.
template <typename E, typename Predicate>
class thrown_predicate {
public:
    /// Throws std::invalid_argument, naming `field`, if the predicate is empty.
    template <typename From>
    thrown_predicate(std::string_view field, From&& predicate)
        : predicate_(std::forward<From>(predicate)) {
        detail::refuse_if_empty(field, predicate_);
    }

    std::optional<bool> operator()(std::exception_ptr const& thrown) {
        std::optional<bool> answer;
        if (E const* const found = find(thrown))
            answer = static_cast<bool>(std::invoke(predicate_, *found));
        return answer;
    }

private:
    /// The exception lives as long as `thrown`.
    static E const* find(std::exception_ptr const& thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (E const& e) {
            return std::addressof(e);
        } catch (...) {
            return nullptr;
        }
    }

    Predicate predicate_;
};

} // namespace asio_retry::detail
