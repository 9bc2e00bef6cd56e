#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace asio_retry::detail {

/// Finds the name that an unknown name resembles most.
class ASIO_RETRY_DECL nearest {
public:
    explicit nearest(std::string_view found);

    void consider(std::string_view name);

    /// "; did you mean exponential?", or nothing if no name is near.
    std::string question() const;

private:
    std::string_view found_, best_;
    std::size_t least_; ///< a name at this distance is not near
};

/// The question for names of items, or for plain names.
template <typename... Lists>
std::string did_you_mean(std::string_view found, Lists const&... lists) {
    nearest to(found);
    auto const consider_all = [&](auto const& list) {
        for (auto const& item : list)
            if constexpr (requires { item.name; })
                to.consider(item.name);
            else
                to.consider(item);
    };
    (consider_all(lists), ...);
    return to.question();
}

} // namespace asio_retry::detail
