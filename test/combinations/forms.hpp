#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/with_hooks.hpp>

#include "combinations/story.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/result.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

/// The forms of operation. `make` makes one that plays a story and is alive as long as `busy` is held.
namespace asio_retry::test {

using busy_token = std::shared_ptr<void>;

/// An asynchronous operation of two steps, the first on the handler's executor.
template <typename Token>
auto async_play(story& played, Token&& token) {
    return asio::async_initiate<Token, void(error_code, int)>(
        [&played](auto handler) {
            auto const executor = asio::get_associated_executor(handler);
            played.begin_attempt(executor,
                                 std::make_unique<kept_handler<decltype(handler)>>(std::move(handler)));
        },
        token);
}

inline void throw_if(error_code const& ec) {
    if (ec)
        throw boost::system::system_error(ec);
}

/// Steps: the attempts are asynchronous. Code: they complete with an error_code. Value: and with an int.
template <bool Steps, bool Code, bool Value>
struct form {
    static constexpr bool has_steps = Steps, has_code = Code, has_value = Value, is_judged = false,
                          is_hooked = false;
    using failure = std::conditional_t<Code, error_code, std::exception_ptr>;
    using signature = typename std::conditional_t<Value, std::type_identity<void(failure, int)>,
                                                  std::type_identity<void(failure)>>::type;
};

template <typename Form>
inline constexpr form_facts facts_of{Form::has_steps, Form::has_value, Form::is_judged, Form::is_hooked};

struct token_operation : form<true, true, true> {
    static std::string name() { return "token_operation"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy](auto token) { return async_play(s, std::move(token)); };
    }
};

struct attempt_and_token : form<true, true, true> {
    static std::string name() { return "attempt_and_token"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy](attempt const& a, auto token) {
            EXPECT_EQ(a.number, static_cast<std::uint64_t>(s.attempts()) + 1);
            return async_play(s, std::move(token));
        };
    }
};

struct deferred_operation : form<true, true, true> {
    static std::string name() { return "deferred_operation"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy] { return async_play(s, asio::deferred); };
    }
};

inline asio::awaitable<error_code> play(story& s) {
    error_code const ec = s.next_attempt();
    co_await asio::post(s.background(), asio::use_awaitable);
    s.see("step");
    co_return ec;
}

struct awaitable_value : form<true, false, true> {
    static std::string name() { return "awaitable_value"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy]() -> asio::awaitable<int> {
            error_code const ec = co_await play(s);
            throw_if(ec);
            co_return s.attempts();
        };
    }
};

struct awaitable_void : form<true, false, false> {
    static std::string name() { return "awaitable_void"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy](attempt) -> asio::awaitable<void> {
            error_code const ec = co_await play(s);
            throw_if(ec);
        };
    }
};

struct awaitable_error_code : form<true, true, false> {
    static std::string name() { return "awaitable_error_code"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy] { return play(s); };
    }
};

struct awaitable_tuple : form<true, true, true> {
    static std::string name() { return "awaitable_tuple"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy]() -> asio::awaitable<std::tuple<error_code, int>> {
            error_code const ec = co_await play(s);
            co_return std::tuple(ec, s.attempts());
        };
    }
};

struct awaitable_result : form<true, true, true> {
    static std::string name() { return "awaitable_result"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy]() -> asio::awaitable<boost::system::result<int>> {
            error_code const ec = co_await play(s);
            if (ec)
                co_return ec;
            co_return s.attempts();
        };
    }
};

struct plain_value : form<false, false, true> {
    static std::string name() { return "plain_value"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy] {
            throw_if(s.next_attempt());
            return s.attempts();
        };
    }
};

struct plain_void : form<false, false, false> {
    static std::string name() { return "plain_void"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy](attempt) { throw_if(s.next_attempt()); };
    }
};

struct plain_error_code : form<false, true, false> {
    static std::string name() { return "plain_error_code"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy] { return s.next_attempt(); };
    }
};

struct plain_result : form<false, true, true> {
    static std::string name() { return "plain_result"; }
    static auto make(story& s, busy_token busy) {
        return [&s, busy]() -> boost::system::result<int> {
            if (error_code const ec = s.next_attempt())
                return ec;
            return s.attempts();
        };
    }
};

/// The operation never fails; its results do.
template <typename Form>
struct judged : Form {
    static std::string name() { return "judged_" + Form::name(); }
    static constexpr bool is_judged = true;
    static auto make(story& s, busy_token busy) {
        s.judge_results();
        return fail_if(Form::make(s, std::move(busy)), [&s](auto const&...) {
            s.see("fail_if");
            return s.rejects();
        });
    }
};

/// The operation has hooks of its own.
template <typename Form>
struct hooked : Form {
    static std::string name() { return "hooked_" + Form::name(); }
    static constexpr bool is_hooked = true;
    static auto make(story& s, busy_token busy) {
        return with_hooks(
            Form::make(s, std::move(busy)), [&s](retry_event const&) { s.see("own on_retry"); },
            [&s](retry_event const&) { s.see("own on_end"); });
    }
};

/// Each attempt has an endpoint.
struct endpoint_and_token : form<true, true, true> {
    static std::string name() { return "endpoint_and_token"; }
    static auto make(story& s, busy_token busy) {
        return on_endpoint(
            [&s, busy](std::string const& at, auto token) {
                EXPECT_FALSE(at.empty());
                return async_play(s, std::move(token));
            },
            three_endpoints());
    }

    static std::shared_ptr<endpoint_set<std::string>> three_endpoints() {
        return std::make_shared<endpoint_set<std::string>>(std::vector<std::string>{"a", "b", "c"});
    }
};

struct endpoint_and_awaitable : form<true, false, true> {
    static std::string name() { return "endpoint_and_awaitable"; }
    static auto make(story& s, busy_token busy) {
        return on_endpoint(
            [&s, busy](attempt, std::string const& at) -> asio::awaitable<int> {
                EXPECT_FALSE(at.empty());
                error_code const ec = co_await play(s);
                throw_if(ec);
                co_return s.attempts();
            },
            endpoint_and_token::three_endpoints());
    }
};

} // namespace asio_retry::test
