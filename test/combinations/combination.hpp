#pragma once

#include <asio_retry/async_retry.hpp>

#include "combinations/executors.hpp"
#include "combinations/forms.hpp"
#include "combinations/story.hpp"
#include "support/function_test.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

namespace asio_retry::test {

/// Of the product of forms, tokens and executors this is missing, because it cannot exist:
///  - callback, detached and use_future without a given executor, which is refused at compile time: they have
///  no
///    executor of their own to wait on. A handler's own system_executor counts as none: the same is refused
///    there, and a given executor is preferred to it. Given explicitly, or behind any_io_executor, it is an
///    executor like any other, and waits hang on the system_context.
///  - redirect_error with operations that complete with an exception_ptr: it redirects an error_code only.
///  - the handler of an any_completion_handler as the executor of an awaitable: it has an
///  any_completion_executor,
///    which cannot run a coroutine. Bound to an executor again it can.
///  - yield_context with void(exception_ptr, T) before Boost 1.82: Asio's spawn does not compile there.
///  - use_promise, and cancel_after and cancel_at without a timer of their own, without a given executor: the
///    promise and the timer have the executor that async_retry was given, and no other.
///  - use_promise with exceptions before Boost 1.82, which loses them.
///  - use_future and detached tell nobody on which executor they complete; all else is seen.

template <typename... Ts>
struct list {};

/// A form of operation tried on a kind of executor.
template <typename Form, typename Kind>
struct combination {
    using form = Form;
    using kind = Kind;
};

template <typename Combination>
std::string name_of() {
    return Combination::form::name() + "_on_" + Combination::kind::name();
}

/// A test of one combination is a function. (A class for each, as TYPED_TEST makes, would be a fifth of all
/// that is compiled here.)
struct named_body {
    std::string (*name)();
    void (*body)();
};

inline bool add_tests(std::string const& suite, char const* test, char const* file, int line,
                      std::initializer_list<named_body> bodies) {
    for (named_body const& each : bodies) {
        testing::RegisterTest((suite + "/" + each.name()).c_str(), test, nullptr, nullptr, file, line,
                              [body = each.body] { return new function_test(body); });
    }
    return true;
}

/// A test of each combination in a list, which is the last argument. What follows is its body, for a
/// `Combination`.
#define COMBINATION_TEST(SUITE, TEST, ...)                                                                     \
    template <typename Combination>                                                                            \
    void SUITE##_##TEST();                                                                                     \
    [[maybe_unused]] bool const SUITE##_##TEST##_is_added = []<typename... Each>(list<Each...>) {              \
        return add_tests(#SUITE, #TEST, __FILE__, __LINE__, {{&name_of<Each>, &SUITE##_##TEST<Each>}...});     \
    }(__VA_ARGS__());                                                                                          \
    template <typename Combination>                                                                            \
    void SUITE##_##TEST()

/// The numbers of the two executors of a trial: the one given to async_retry, and the handler's own.
inline constexpr int given = 1;
inline constexpr int own = 2;

/// A handler that any signature fits, and that can only be moved.
struct noting_handler {
    noting_handler(story& s, busy_token held)
        : told(&s)
        , busy(std::move(held)) {}
    noting_handler(noting_handler&&) noexcept = default;
    noting_handler(noting_handler const&) = delete;

    template <typename... Args>
    void operator()(Args const&... args) const {
        told->complete(outcome_of(args...));
    }

    story* told;
    busy_token busy;
};

/// Notes what awaiting comes to. (A coroutine of its own, because g++ 16 cannot compile a lambda that is one
/// inside a generic one.)
template <bool HasValue, typename Awaited>
asio::awaitable<void> note_awaited(story& s, Awaited awaited) {
    outcome result;
    try {
        if constexpr (HasValue)
            result.value = co_await std::move(awaited);
        else
            co_await std::move(awaited);
    } catch (boost::system::system_error const& e) {
        result.error = e.code();
    }
    s.complete(result);
}

template <typename Value>
asio::awaitable<void> note(story& s, asio::awaitable<Value> awaited) {
    return note_awaited<!std::is_void_v<Value>>(s, std::move(awaited));
}

/// The same for what gives a tuple.
template <typename Awaited>
asio::awaitable<void> note_tuple(story& s, Awaited awaited) {
    s.complete(outcome_of(co_await std::move(awaited)));
}

/// The same for what redirects its error.
template <typename Retry>
asio::awaitable<void> note_redirected(story& s, Retry retry) {
    error_code error = asio::error::already_open; // a success clears it
    outcome result;
    auto awaited = retry(error);
    if constexpr (std::is_same_v<decltype(awaited), asio::awaitable<void>>)
        co_await std::move(awaited);
    else
        result.value = co_await std::move(awaited);
    result.error = error;
    s.complete(result);
}

/// One operation in a context of its own, from its initiation until the context has run dry.
template <typename Kind>
class trial_on {
public:
    trial_on(Kind& context, form_facts const& form, std::uint64_t failures, bool limited)
        : kind_(context)
        , form_(form)
        , story_(failures, kind_.background())
        , failures_(failures)
        , limited_(limited) {}

    story& told() { return story_; }
    busy_token busy() const { return busy_.lock(); }
    std::uint64_t failures() const { return failures_; }
    retry_policy policy() { return limited_ ? story_.policy().attempt_timeout(1h) : story_.policy(); }
    auto given_executor() { return kind_.executor(given); }
    auto own_executor() { return kind_.executor(own); }
    noting_handler handler() { return {story_, busy()}; }

    /// Runs `body` as a coroutine on the own executor.
    void spawn(std::function<asio::awaitable<void>()> body) {
        asio::co_spawn(
            own_executor(), [body = std::move(body), held = busy()] { return body(); },
            [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(e);
            });
    }

    void run_dry() {
        start_.reset();
        kind_.run_dry(busy_);
    }

    bool is_serial() const { return kind_.is_serial(); }

    /// Everything was called as often as it should be, and through the executor `number`.
    void expect_called_on(int number, bool handler_is_seen) const {
        duration const waited = story_.expect_called(form_, number, handler_is_seen);
        EXPECT_EQ(kind_.elapsed(waited), waited);
    }

    void expect_result() const { story_.expect_result(form_); }

private:
    Kind& kind_;
    form_facts const form_;
    story story_;
    std::uint64_t const failures_;
    bool const limited_;
    busy_token start_ = std::make_shared<int>();
    std::weak_ptr<void> const busy_ = start_; // which the threads of a pool may look at
};

template <typename Combination>
class trial : public trial_on<typename Combination::kind> {
    using form = typename Combination::form;
    using base = trial_on<typename Combination::kind>;

public:
    trial(typename Combination::kind& context, std::uint64_t failures, bool limited)
        : base(context, facts_of<form>, failures, limited) {}

    auto operation() { return form::make(this->told(), this->busy()); }
};

/// Tries a combination with attempts that all succeed, some and none, without and with a time limit. `body`
/// starts the operation.
template <typename Combination>
void try_out(std::function<void(trial<Combination>&)> const& body) {
    for (std::uint64_t const failures : std::initializer_list<std::uint64_t>{0, 2, 9}) {
        for (bool const limited : {false, true}) {
            SCOPED_TRACE(std::to_string(failures) + " failures" + (limited ? ", limited" : ""));
            with_contexts_of<typename Combination::kind>([&](auto& context) {
                trial<Combination> t(context, failures, limited);
                body(t);
            });
        }
    }
}

/// The same for a token whose handler notes the completion.
template <typename Combination>
void expect_everything_on(int number, void (*body)(trial<Combination>&)) {
    try_out<Combination>([=](trial<Combination>& t) {
        body(t);
        t.run_dry();
        t.expect_result();
        t.expect_called_on(number, true);
    });
}

/// The same for what a coroutine awaits on the own executor, and notes.
template <typename Combination>
void expect_awaited_on(int number, asio::awaitable<void> (*body)(trial<Combination>&)) {
    try_out<Combination>([=](trial<Combination>& t) {
        t.spawn([&t, body] { return body(t); });
        t.run_dry();
        t.expect_result();
        t.expect_called_on(number, true);
    });
}

/// The product of a list of forms and a list of kinds.
template <typename... As, typename... Bs>
list<As..., Bs...> operator+(list<As...>, list<Bs...>);

template <typename Form, typename... Kinds>
list<combination<Form, Kinds>...> on_each(list<Kinds...>);

template <typename... Forms, typename Kinds>
auto product(list<Forms...>, Kinds kinds) -> decltype((list<>() + ... + on_each<Forms>(kinds)));

using all_forms =
    list<token_operation, attempt_and_token, deferred_operation, awaitable_value, awaitable_void,
         awaitable_error_code, awaitable_tuple, awaitable_result, plain_value, plain_void, plain_error_code,
         plain_result, judged<token_operation>, judged<awaitable_value>, judged<plain_value>,
         hooked<token_operation>, hooked<awaitable_value>, endpoint_and_token, endpoint_and_awaitable>;
using forms_with_code =
    list<token_operation, attempt_and_token, deferred_operation, awaitable_error_code, awaitable_tuple,
         awaitable_result, plain_error_code, plain_result, judged<token_operation>>;
/// One of each way to run an attempt.
using typical_forms = list<token_operation, awaitable_value, plain_error_code>;
using typed_kinds = list<on_io_context, on_strand, on_thread_pool, on_system_context>;
/// What a handler's own executor may be.
using own_kinds = list<on_io_context, on_strand, on_thread_pool>;

/// All forms on all executors behind any_io_executor, and the typical ones on all types of executor. A
/// sanitized build, for the sake of its time, has the typical ones on one.
template <typename Forms = all_forms, typename TypedForms = typical_forms, typename Kinds = typed_kinds>
#if defined(ASIO_RETRY_TYPICAL_COMBINATIONS)
using all_combinations = decltype(product(TypedForms(), list<on_any_io_executor, on_thread_pool>()));
#else
using all_combinations =
    decltype(product(Forms(), list<on_any_io_executor>()) + product(TypedForms(), Kinds()));
#endif

} // namespace asio_retry::test
