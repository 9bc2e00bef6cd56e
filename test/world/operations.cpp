#include "world/operations.hpp"

#include "world/attempts.hpp"

#include "stress/sanitized.hpp"

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/fresh_connection.hpp>
#include <asio_retry/inject.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retrying.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <stdexcept>
#include <utility>

namespace asio_retry::world {
namespace {

// Asio counts the owners of an erased strand by fences, which ThreadSanitizer does not know: it would report
// races.
#ifdef ASIO_RETRY_TEST_THREAD_SANITIZER
constexpr bool may_erase_strands = false;
#else
constexpr bool may_erase_strands = true;
#endif
constexpr int callback_forms = 15, forms_with_handlers = 18;

using namespace asio::experimental::awaitable_operators;

/// What an attempt tells while it runs.
void say(attempt const& which, dice& d, duration unit) {
    switch (d.below(12)) {
    case 0:
        return which.heed(d.one_in(4) ? pushback::never() : pushback::after(d.below(4) * unit));
    case 1:
        return which.mark_healthy();
    case 2:
        return which.progress();
    case 3:
        return which.mark_sent();
    default:
        return;
    }
}

/// The attempts of one operation: what they have in common, whatever their form.
struct script {
    place* where;
    record* told;
    std::uint64_t seed;
    duration unit;

    attempt_plan begin(attempt const& which) const {
        dice d(seed, which.number);
        where->note(*told, "begin", static_cast<std::int64_t>(which.number));
        say(which, d, unit);
        return draw_shared_attempt(d, unit);
    }

    template <typename Token>
    auto initiate(attempt const& which, Token&& token) const {
        return asio::async_initiate<Token, void(error_code, int)>(
            [self = *this, which](auto handler) {
                handled_attempt<decltype(handler)>::begin(std::move(handler), *self.told, self.begin(which));
            },
            token);
    }
};

struct by_token : script {
    template <typename Token>
    auto operator()(attempt which, Token&& token) const {
        return initiate(which, std::forward<Token>(token));
    }
};

struct at_server : script {
    template <typename Token>
    auto operator()(attempt which, int const&, Token&& token) const {
        return initiate(which, std::forward<Token>(token));
    }
};

struct by_coroutine : script {
    asio::awaitable<int> operator()(attempt which) const { return run(*this, which); }

    static asio::awaitable<int> run(script self, attempt which) {
        dice d(self.seed + 1, which.number);
        if (d.one_in(3))
            co_await asio::post(asio::use_awaitable);
        int const value = co_await self.initiate(which, asio::use_awaitable);
        if (d.one_in(8))
            throw std::runtime_error("an attempt throws");
        co_return value;
    }
};

struct coroutine_at_server : script {
    asio::awaitable<int> operator()(attempt which, int const&) const { return by_coroutine::run(*this, which); }
};

struct plain : script {
    error_code operator()(attempt which) const {
        attempt_plan const plan = begin(which);
        if (plan.end == fate::throws)
            throw std::runtime_error("an attempt throws");
        return plan.end == fate::success ? error_code() : plan.error;
    }
};

/// Rejects some values.
struct judge {
    std::uint64_t seed;
    judgement operator()(int) const {
        dice d(seed);
        return d.one_in(3) ? judge_http(d.one_in(2) ? 503 : 404, "0") : judgement();
    }
};

struct no_hook {
    void operator()(retry_event const&) const noexcept {}
};

/// Each attempt retries, or hedges, itself.
struct nested {
    by_token inner;
    retry_policy policy;

    template <typename Token>
    auto operator()(attempt outer, Token&& token) const {
        return async_retry(outer, inner, policy, std::forward<Token>(token));
    }
};

struct hedged {
    by_token inner;
    hedge_policy policy;

    template <typename Token>
    auto operator()(attempt outer, Token&& token) const {
        return async_hedge(inner, policy.nested_in(outer), std::forward<Token>(token));
    }
};

struct nested_coroutine {
    by_coroutine inner;
    retry_policy policy;

    asio::awaitable<int> operator()(attempt outer) const { return run(outer, inner, policy); }
    static asio::awaitable<int> run(attempt outer, by_coroutine inner, retry_policy policy) {
        co_return co_await async_retry(outer, inner, policy);
    }
};

/// A handler that somebody may cancel.
auto on_strand(place& where, strand const& own, record& told) {
    auto const signal = std::make_shared<asio::cancellation_signal>();
    where.add(cancel_button{signal, own});
    return asio::bind_cancellation_slot(signal->slot(),
                                        asio::bind_executor(own, asio::consign(witness(told), signal)));
}

/// Starts one operation with a handler, on its strand.
class starter {
public:
    starter(place& where, shared_things& shared, duration unit, strand own, std::uint64_t seed)
        : where_(&where)
        , shared_(&shared)
        , unit_(unit)
        , own_(std::move(own))
        , dice_(seed) {}

    void operator()() { start(); }

private:
    template <typename Attempts>
    Attempts by(Attempts attempts) {
        static_cast<script&>(attempts) = {where_, told_, dice_.seed(), unit_};
        return attempts;
    }
    retry_policy policy() { return shared_->policy(dice_); }

    auto handler(char const* form) {
        told_->form = form;
        return on_strand(*where_, own_, *told_);
    }

    fresh_connection<> connection() {
        asio::ip::tcp::endpoint const nobody(asio::ip::address_v4::loopback(), 1);
        return {where_->new_socket(), {nobody}};
    }

    template <typename Operation>
    void in_context(Operation operation, char const* form) {
        async_retry(where_->io(), std::move(operation), policy(), handler(form));
    }
    template <typename Operation>
    void in_scope(Operation operation, char const* form) {
        async_retry(*where_->any_scope(dice_), std::move(operation), policy(), handler(form));
    }
    template <typename Operation>
    void hedge_in_context(Operation operation, char const* form) {
        async_hedge(where_->io(), std::move(operation), shared_->hedge(dice_), handler(form));
    }
    template <typename Operation>
    void hedge_in_scope(Operation operation, char const* form) {
        async_hedge(*where_->any_scope(dice_), std::move(operation), shared_->hedge(dice_), handler(form));
    }

    void start() {
        told_ = &where_->expect("");
        switch (dice_.below(may_erase_strands ? forms_with_handlers : callback_forms)) {
        case 0:
            return in_context(by(by_token()), "token");
        case 1:
            return in_scope(by(by_token()), "token in a scope");
        case 2:
            return in_context(by(plain()), "plain callable");
        case 3:
            return in_context(inject(by(by_token()), shared_->faults()), "inject");
        case 4:
            return in_scope(on_endpoint(by(at_server()), shared_->servers()), "on_endpoint");
        case 5:
            return in_context(on_endpoint(inject(by(at_server()), shared_->faults()), shared_->servers()),
                              "inject at an endpoint");
        case 6:
            return in_context(fail_if(by(by_token()), judge{dice_.seed()}), "fail_if");
        case 7:
            return in_context(with_report(by(by_token()), where_->new_report()), "with_report");
        case 8:
            return in_context(with_hooks(by(by_token()), no_hook(), no_hook()), "with_hooks");
        case 9:
            return hedge_in_context(by(by_token()), "hedge");
        case 10:
            return hedge_in_scope(on_endpoint(by(at_server()), shared_->servers()), "hedge at endpoints");
        case 11:
            return in_context(nested{by(by_token()), policy()}, "nested");
        case 12:
            return in_context(hedged{by(by_token()), shared_->hedge(dice_)}, "hedge in a retry");
        case 13:
            by(by_token())(attempt(), retrying(policy(), handler("retrying")));
            return;
        case 14:
            async_retry(where_->io(), by(by_token()), policy(), asio::deferred)(handler("deferred"));
            return;
        case 15:
            return in_context(before_retry(by(by_token()), by(plain())), "before_retry");
        case 16:
            return dice_.one_in(2) ? in_scope(by(by_coroutine()), "awaitable in a scope")
                                   : in_context(by(by_coroutine()), "awaitable");
        default: // by the system's clock
            return where_->is_virtual() ? in_scope(by(by_token()), "token in a scope")
                                        : in_context(connection(), "fresh_connection");
        }
    }

    place* where_;
    shared_things* shared_;
    duration unit_;
    strand own_;
    dice dice_;
    record* told_ = nullptr;
};

/// Later: in Boost 1.81 two awaitables that end as they begin must not be awaited at once.
asio::awaitable<void> retry_later(by_coroutine attempts, retry_policy policy) {
    co_await asio::post(asio::use_awaitable);
    co_await async_retry(attempts, policy);
}

/// Awaits one operation, or two at once.
asio::awaitable<void> session(place& where, shared_things& shared, record& told, duration unit,
                              std::uint64_t seed) {
    dice d(seed);
    co_await asio::post(asio::use_awaitable); // before that Asio lets no coroutine be cancelled
    script const attempts{&where, &told, d.seed(), unit};
    by_coroutine const plain_one{attempts};
    coroutine_at_server const one_at_server{attempts};
    retry_policy const policy = shared.policy(d);
    hedge_policy const hedge = shared.hedge(d);
    std::shared_ptr<retry_scope> held = where.any_scope(d);
    retry_scope* const scope = held.get();
    if (where.is_virtual()) // nobody destroys it before the operation begins
        held.reset();
    constexpr char const* forms[] = {"awaited",
                                     "awaited in a scope",
                                     "awaited at endpoints",
                                     "awaited inject",
                                     "awaited nested",
                                     "awaited hedge",
                                     "awaited hedge at endpoints",
                                     "awaited fail_if",
                                     "two awaited at once"};
    int const form = d.below(9);
    told.form = forms[form];
    if (form != 8 && d.one_in(2)) // what awaits two passes on the first emission alone, which has to end both
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    switch (form) {
    case 0:
        co_await async_retry(plain_one, policy);
        break;
    case 1:
        co_await async_retry(*scope, plain_one, policy);
        break;
    case 2: {
        auto const chosen = on_endpoint(one_at_server, shared.servers());
        co_await async_retry(chosen, policy);
        break;
    }
    case 3: {
        auto const faulty = inject(plain_one, shared.faults());
        co_await async_retry(*scope, faulty, policy);
        break;
    }
    case 4: {
        nested_coroutine const outer{plain_one, policy};
        co_await async_retry(outer, policy);
        break;
    }
    case 5:
        co_await async_hedge(plain_one, hedge);
        break;
    case 6: {
        auto const chosen = on_endpoint(one_at_server, shared.servers());
        co_await async_hedge(*scope, chosen, hedge);
        break;
    }
    case 7: {
        auto const judged = fail_if(plain_one, judge{d.seed()});
        co_await async_retry(judged, policy);
        break;
    }
    default:
        co_await (retry_later(plain_one, policy) || retry_later(plain_one, policy));
    }
}

struct virtual_waits {
    place& where;
    std::function<void(duration)> const& advance;
    std::uint64_t seed;

    time_point now() const { return where.now(); }
    void wait_until(time_point when) { advance(when - now()); }
    bool stopped() const { return false; }
    random next_random() const { return random(seed); }
};

void tick(std::shared_ptr<looping_ticker> const& one, place& where) {
    auto ticked = [one, &where, told = witness(where.expect("ticker"))](error_code ec) {
        told(ec);
        if (!ec && --one->left != 0)
            tick(one, where);
    };
    one->ticker.async_wait(asio::bind_executor(one->where, std::move(ticked)));
}

} // namespace

void start_operation(place& where, shared_things& shared, dice& d, duration unit) {
    strand const own = asio::make_strand(where.io());
    std::uint64_t const seed = d.seed();
    if (!may_erase_strands || !d.one_in(3))
        return asio::post(own, starter(where, shared, unit, own, seed));
    asio::post(own, [&where, &shared, unit, own, seed] { // nobody emits before a coroutine has begun
        record& told = where.expect("coroutine");
        asio::co_spawn(own, session(where, shared, told, unit, seed), on_strand(where, own, told));
    });
}

void use_tickers(place& where, shared_things& shared, dice& d) {
    if (!may_erase_strands)
        return;
    auto const one = where.any_ticker(d);
    if (!one || d.one_in(3)) {
        auto const made = std::make_shared<looping_ticker>(asio::make_strand(where.io()),
                                                           shared.policy_of_ticker(d), 1 + d.below(4));
        where.add(made);
        return asio::post(made->where, [made, &where] { tick(made, where); });
    }
    switch (d.below(3)) {
    case 0:
        return asio::post(one->where, [one] { one->ticker.stop(); });
    case 1:
        return asio::post(one->where, [one] { one->ticker.reset(); });
    default:
        return asio::post(one->where, [one] { one->ticker.retry_now(); });
    }
}

void block(place& where, shared_things& shared, dice& d, duration unit,
           std::function<void(duration)> const& advance) {
    record& told = where.expect("blocking retry");
    witness const handler(told);
    plain const attempts{{&where, &told, d.seed(), unit}};
    auto const faulty = inject(attempts, shared.faults());
    retry_policy const policy = shared.policy(d).total_timeout(8 * unit);
    try {
        if (where.time()) {
            virtual_waits waits{where, advance, d.seed()};
            static_cast<void>(retry(faulty, policy, waits));
        } else {
            static_cast<void>(retry(faulty, policy));
        }
    } catch (std::exception const&) {
    }
    handler();
}

} // namespace asio_retry::world
