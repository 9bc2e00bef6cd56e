#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry {
namespace asio = boost::asio;
}

namespace asio_retry::detail {

/// What `co_await` yields of a completion: as use_awaitable does it, or as a tuple.
template <typename Arguments>
struct thrown_failure;

template <typename Failure, typename... Values>
struct thrown_failure<std::tuple<Failure, Values...>> {
    static auto yield(std::tuple<Failure, Values...>&& result) {
        if constexpr (disposition<Failure>) {
            if (disposition_access<Failure>::failed(std::get<0>(result)))
                asio_traits<Failure>::throw_exception(std::get<0>(std::move(result)));
        } else if constexpr (std::is_same_v<Failure, error_code>) {
            if (std::get<0>(result))
                throw boost::system::system_error(std::get<0>(result));
        } else {
            if (std::get<0>(result))
                std::rethrow_exception(std::get<0>(result));
        }
        if constexpr (sizeof...(Values) == 1)
            return std::get<1>(std::move(result));
        else if constexpr (sizeof...(Values) > 1)
            return std::apply(
                [](auto&&, auto&&... values) { return std::tuple<Values...>(std::move(values)...); },
                std::move(result));
    }
};

/// To an Asio without traits, a disposition is a value among others.
template <disposition Failure, typename... Values>
    requires(!has_asio_traits<Failure>)
struct thrown_failure<std::tuple<Failure, Values...>> {
    static auto yield(std::tuple<Failure, Values...>&& result) {
        if constexpr (sizeof...(Values) == 0)
            return std::get<0>(std::move(result));
        else
            return std::move(result);
    }
};

struct as_values {
    template <typename Arguments>
    using yields = decltype(thrown_failure<Arguments>::yield(std::declval<Arguments>()));
    template <typename Arguments>
    static yields<Arguments> yield(Arguments&& result) {
        return thrown_failure<Arguments>::yield(std::move(result));
    }
};

struct as_arguments {
    template <typename Arguments>
    using yields = Arguments;
    template <typename Arguments>
    static Arguments yield(Arguments&& result) {
        return std::move(result);
    }
};

/// Tokens that make an awaitable.
template <typename Token>
struct awaiting_token {
    using executor_type = void;
};
template <typename Executor>
struct awaiting_token<asio::use_awaitable_t<Executor>> {
    using executor_type = Executor;
    using style = as_values;
};
template <typename Executor>
struct awaiting_token<asio::as_tuple_t<asio::use_awaitable_t<Executor>>> {
    using executor_type = Executor;
    using style = as_arguments;
};

} // namespace asio_retry::detail
