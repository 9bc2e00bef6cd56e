#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace asio_retry::detail {

[[noreturn]] ASIO_RETRY_DECL void refuse_empty_executor(std::string_view field);

/// Throws std::invalid_argument, naming the field, for an empty type-erased executor: Asio would follow its
/// null pointer.
template <typename Executor>
void refuse_if_empty_executor(std::string_view field, Executor const& executor) {
    if constexpr (std::is_constructible_v<Executor, std::nullptr_t> &&
                  std::is_constructible_v<bool, Executor const&>) {
        if (!static_cast<bool>(executor))
            refuse_empty_executor(field);
    }
}

} // namespace asio_retry::detail
