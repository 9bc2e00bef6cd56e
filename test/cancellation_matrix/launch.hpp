#pragma once

#include "scenario.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/on_endpoint.hpp>

#include "support/rpc_status.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/error_code.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry::test {

// --- the two forms of operation, which take an attempt: else there would be two limits less

class token_operation {
public:
    static constexpr form shape = form::token_operation;
    using signature = void(boost::system::error_code, int);

    explicit token_operation(scenario& s)
        : attempts_(&s.attempts())
        , counted_(s.count_me()) {}

    template <typename Token>
    auto operator()(attempt, Token&& token) {
        attempts_->call();
        return attempts_->async_attempt(std::forward<Token>(token));
    }

private:
    case_attempts* attempts_;
    counted counted_;
};

class awaitable_operation {
public:
    static constexpr form shape = form::awaitable_operation;
    using signature = void(std::exception_ptr, int);

    explicit awaitable_operation(scenario& s)
        : attempts_(&s.attempts())
        , counted_(s.count_me()) {}

    asio::awaitable<int> operator()(attempt) { return attempts_->attempt(); }

private:
    case_attempts* attempts_;
    counted counted_;
};

/// Completes with a disposition.
class disposition_operation {
public:
    static constexpr form shape = form::token_operation;
    using signature = void(rpc_status, int);

    explicit disposition_operation(scenario& s)
        : attempts_(s) {}

    template <typename Token>
    auto operator()(attempt which, Token&& token) {
        return attempts_(which, asio::deferred)(asio::deferred([](boost::system::error_code code, int value) {
            return asio::deferred.values(local_status(code), value);
        }))(std::forward<Token>(token));
    }

private:
    token_operation attempts_;
};

/// Whether the operation's failure is a value to Asio too: it has no traits.
template <typename Operation>
inline constexpr bool has_disposition = std::is_same_v<Operation, disposition_operation>;

/// The same, where each attempt is at one of three endpoints.
template <typename Operation>
struct at_endpoint {
    static constexpr form shape = Operation::shape;
    using signature = typename Operation::signature;
};

template <typename Operation>
Operation operation_of(std::type_identity<Operation>, scenario& s) {
    return Operation(s);
}
inline auto operation_of(std::type_identity<at_endpoint<token_operation>>, scenario& s) {
    return on_endpoint(
        [asked = token_operation(s)](attempt which, int, auto&& token) mutable {
            return asked(which, std::forward<decltype(token)>(token));
        },
        s.endpoints());
}
inline auto operation_of(std::type_identity<at_endpoint<awaitable_operation>>, scenario& s) {
    return on_endpoint([asked = awaitable_operation(s)](attempt which, int) mutable { return asked(which); },
                       s.endpoints());
}

// --- where it runs

struct on_io_context {
    using type = asio::io_context::executor_type;
    static type of(scenario& s) { return s.context().get_executor(); }
};

struct on_strand {
    using type = asio::strand<asio::io_context::executor_type>;
    static type of(scenario& s) { return *s.executor().target<type>(); }
};

struct on_any_executor {
    using type = asio::any_io_executor;
    static type of(scenario& s) { return s.executor(); }
};

struct in_scope {
    using type = retry_scope&;
    static type of(scenario& s) { return s.scope(); }
};

// --- the tokens

class completion_handler {
public:
    explicit completion_handler(scenario& s)
        : scenario_(&s)
        , counted_(s.count_me()) {}

    template <typename Failure>
    void operator()(Failure const& failure, int value) {
        scenario_->on_completed(failure, value);
    }
    void operator()(rpc_status const& status, int value) { scenario_->on_completed(status.local, value); }

private:
    scenario* scenario_;
    counted counted_;
};

/// With an executor of its own, it would be told of a cancellation only later.
struct coroutine_handler {
    using cancellation_slot_type = asio::cancellation_slot;
    cancellation_slot_type slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
    void operator()(std::exception_ptr) const {}
};

template <typename Operation, typename Where, typename Token>
asio::awaitable<void> await_retry_of(scenario& s, Token with) {
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    if (s.cancels_before_start())
        co_await asio::this_coro::throw_if_cancelled(false);
    typename Where::type where = Where::of(s);
    retry_policy const policy = s.policy();
    auto operation = operation_of(std::type_identity<Operation>(), s);
    s.about_to_start();
    try {
        if constexpr (has_disposition<Operation>) {
            auto const [status, value] = co_await async_retry(where, std::move(operation), policy, with);
            s.on_completed(status.local, value);
        } else if constexpr (std::is_same_v<Token, asio::use_awaitable_t<>>) {
            int const value = co_await async_retry(where, std::move(operation), policy, with);
            s.on_completed(boost::system::error_code(), value);
        } else {
            auto const [failure, value] = co_await async_retry(where, std::move(operation), policy, with);
            s.on_completed(failure, value);
        }
    } catch (...) {
        s.on_completed(std::current_exception(), 0);
    }
    // Else a coroutine that is cancelled and has never waited throws out of Asio's co_spawn.
    co_await asio::this_coro::throw_if_cancelled(false);
    auto const state = co_await asio::this_coro::cancellation_state;
    s.on_completed_in_coroutine(state.slot().has_handler());
}

template <typename Operation, typename Where, token With>
void launch(scenario& s) {
    auto const start = [&](auto&& token) {
        s.about_to_start();
        return async_retry(Where::of(s), operation_of(std::type_identity<Operation>(), s), s.policy(),
                           std::forward<decltype(token)>(token));
    };
    auto const handler = [&] { return asio::bind_cancellation_slot(s.slot(), completion_handler(s)); };
    auto const spawn = [&](auto token) {
        asio::co_spawn(s.executor(), await_retry_of<Operation, Where>(s, token), coroutine_handler{s.slot()});
    };
    if constexpr (With == token::callback) {
        start(handler());
    } else if constexpr (With == token::deferred) {
        auto lazy = async_retry(Where::of(s), operation_of(std::type_identity<Operation>(), s), s.policy(),
                                asio::deferred);
        s.about_to_start();
        std::move(lazy)(handler());
    } else if constexpr (With == token::any_handler) {
        start(asio::any_completion_handler<typename Operation::signature>(handler()));
    } else if constexpr (With == token::future) {
        s.expect_completion_of(start(asio::bind_cancellation_slot(s.slot(), asio::use_future)));
    } else if constexpr (With == token::awaitable) {
        spawn(asio::use_awaitable);
    } else {
        spawn(asio::as_tuple(asio::use_awaitable));
    }
}

template <typename Operation, typename Where>
scenario::launcher launcher_for(token with) {
    switch (with) {
    case token::callback:
        return launch<Operation, Where, token::callback>;
    case token::deferred:
        return launch<Operation, Where, token::deferred>;
    case token::any_handler:
        if constexpr (Operation::shape == form::token_operation)
            return launch<Operation, Where, token::any_handler>;
        else
            return nullptr;
    case token::future:
        if constexpr (has_disposition<Operation>)
            return nullptr;
        else
            return launch<Operation, Where, token::future>;
    case token::awaitable:
        return launch<Operation, Where, token::awaitable>;
    case token::tuple_awaitable:
        return launch<Operation, Where, token::tuple_awaitable>;
    }
    return nullptr;
}

} // namespace asio_retry::test
