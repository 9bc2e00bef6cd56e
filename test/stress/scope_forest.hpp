#pragma once

#include "stress/watchdog.hpp"

#include <asio_retry/async_retry.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

/// Trees of scopes on two contexts, which four threads and the handlers that they run make, use and destroy at
/// random.
class scope_forest {
public:
    /// What happens when the threads have done what they do.
    enum class fate {
        finish,  ///< all scopes are cancelled and the contexts run dry
        destroy, ///< two threads destroy the contexts, each of which has operations of its own scopes only
    };

    scope_forest(std::uint64_t seed, std::size_t actions, fate end)
        : seed_(seed)
        , fate_(end)
        , left_(static_cast<std::ptrdiff_t>(actions))
        , endings_(2 * actions) {}

    /// Returns when nothing is left to do on either context, or they are gone.
    void run() {
        std::vector<std::thread> threads;
        for (unsigned i = 0; i != doing_.size(); ++i)
            threads.emplace_back([this, i] { work(i); });
        for (std::thread& thread : threads)
            thread.join();
    }

    /// How many operations, joins and drains there were.
    std::size_t begun() const noexcept { return begun_; }

    /// How many of their handlers have been called so often.
    std::size_t called(int times) const noexcept {
        std::size_t result = 0;
        for (std::size_t i = 0; i != begun_; ++i)
            result += endings_[i] == times;
        return result;
    }

    /// How many of their handlers exist.
    std::ptrdiff_t handlers() const noexcept { return handlers_; }

    /// What the scopes say that were left in the end.
    std::size_t pending() const {
        std::size_t result = 0;
        for (auto const& scope : left_over_)
            result += scope->pending();
        return result;
    }

    std::size_t waits() { return scheduler(*contexts_[0]).pending() + scheduler(*contexts_[1]).pending(); }

private:
    using scope_handle = std::shared_ptr<retry_scope>;
    using strand = asio::strand<asio::io_context::executor_type>;

    // --- the threads

    void work(unsigned number) {
        self_ = this;
        number_ = number;
        random_.seed(static_cast<std::mt19937::result_type>(seed_ * doing_.size() + number));
        asio::io_context& io = *contexts_[number % 2];
        while (left_.load() > 0) {
            act();
            doing_[number] = "running handlers";
            for (std::size_t i = below(8); i != 0 && io.poll_one() != 0; --i)
                dog_.moved();
        }
        bool const is_last = at_work_.fetch_sub(1) == 1;
        if (fate_ == fate::destroy) {
            doing_[number] = "destroying a context";
            destroy_context(number);
        } else {
            if (is_last)
                end();
            doing_[number] = "running the rest";
            io.run();
        }
        doing_[number] = "gone";
    }

    void end() {
        {
            std::lock_guard const lock(mutex_);
            left_over_ = std::move(scopes_);
            scopes_.clear();
        }
        for (auto const& scope : left_over_)
            scope->cancel();
        for (auto& guard : guards_)
            guard.reset();
    }

    /// By the first two threads, when the others are gone.
    void destroy_context(unsigned number) {
        while (at_work_ != 0)
            std::this_thread::yield();
        if (number == 0) {
            scopes_.clear();
            has_cleared_ = true;
        }
        if (number < 2) {
            while (!has_cleared_)
                std::this_thread::yield();
            guards_[number].reset();
            contexts_[number].reset();
        }
    }

    // --- what they do

    class ending {
    public:
        ending(scope_forest* forest, std::size_t number) noexcept
            : forest_(forest)
            , number_(number) {
            ++forest_->handlers_;
        }
        ending(ending const& other) noexcept
            : ending(other.forest_, other.number_) {}
        ending& operator=(ending const&) = delete;
        ~ending() { --forest_->handlers_; }

        template <typename... Results>
        void operator()(Results&&...) const {
            ++forest_->endings_.at(number_);
            forest_->dog_.moved();
            forest_->act_sometimes();
        }

    private:
        scope_forest* forest_;
        std::size_t number_;
    };
    ending note_ending() { return {this, begun_.fetch_add(1)}; }

    void act() {
        if (left_.fetch_sub(1) <= 0)
            return;
        dog_.moved();
        char const* const before = number_ < doing_.size() ? doing_[number_].load() : "";
        switch (scope_handle const scope = any_scope(); below(scope ? 24 : 1)) {
        case 0:
            doing("making a root");
            make_root();
            break;
        case 1:
        case 2:
        case 3:
            doing("making a child");
            add(below(4) == 0 ? std::make_shared<retry_scope>(*scope, some_time_from_now())
                              : std::make_shared<retry_scope>(*scope));
            break;
        case 4:
        case 5:
        case 6:
            doing("destroying a scope");
            remove(scope);
            break;
        case 7:
            doing("cancelling");
            scope->cancel();
            break;
        case 8:
            doing("beginning a drain");
            begin_drain(*scope);
            break;
        case 9:
        case 10:
            doing("beginning a join");
            begin_join(*scope);
            break;
        case 11:
        case 12:
        case 13:
            doing("telling to retry now");
            scope->retry_now();
            break;
        case 14:
            doing("making and destroying children");
            for (std::size_t i = below(burst); i != 0; --i)
                retry_scope{*scope};
            break;
        case 15:
            doing("telling to retry now, again and again");
            for (std::size_t i = below(burst); i != 0; --i)
                scope->retry_now();
            break;
        case 16:
            doing("limiting what is pending");
            scope->max_pending(1 + below(50));
            break;
        default:
            doing("starting an operation");
            start(*scope);
        }
        doing(before);
    }

    /// Handlers act too, now and then.
    void act_sometimes() {
        if (self_ == this && below(4) == 0)
            act();
    }

    void make_root() {
        asio::io_context& io = *contexts_[below(2)];
        auto const root = below(2) == 0 ? std::make_shared<retry_scope>(io)
                                        : std::make_shared<retry_scope>(asio::make_strand(io));
        std::lock_guard const lock(mutex_);
        scopes_.push_back(root);
    }

    void begin_join(retry_scope& scope) {
        if (below(2) == 0)
            return scope.async_join(note_ending());
        strand const on = asio::make_strand(some_context(scope));
        auto const signal = std::make_shared<asio::cancellation_signal>();
        auto handler = [ended = note_ending(), signal](error_code) { ended(); };
        scope.async_join(asio::bind_cancellation_slot(signal->slot(), asio::bind_executor(on, handler)));
        if (below(2) == 0)
            asio::post(on, [signal] { signal->emit(asio::cancellation_type::terminal); });
    }

    void begin_drain(retry_scope& scope) {
        scope.async_drain(std::chrono::microseconds(below(500)), note_ending());
    }

    void start(retry_scope& scope) {
        asio::io_context& io = some_context(scope);
        switch (below(5)) {
        case 0:
            return start_plain(scope, io);
        case 1:
            return start_posting(scope, io);
        case 2:
            return start_on_timer(scope, io);
        case 3:
            return start_awaited(scope, io);
        default:
            return start_coroutine(scope, io);
        }
    }

    void start_plain(retry_scope& scope, asio::io_context& io) {
        auto const operation = [left = below(4)]() mutable {
            return left-- == 0 ? error_code() : error_code(asio::error::connection_refused);
        };
        auto const handler = note_ending();
        switch (below(5)) {
        case 0:
            return async_retry(scope, operation, some_policy(), handler);
        case 1:
            return async_retry(scope, operation, some_policy(), asio::bind_executor(io, handler));
        case 2:
            return async_retry(scope, operation, some_policy(),
                               asio::bind_executor(asio::make_strand(io), handler));
        case 3:
            return async_retry(scope, operation, some_policy(),
                               asio::bind_executor(asio::system_executor(), handler));
        default:
            return async_retry(scope, operation, some_policy(),
                               asio::bind_executor(asio::any_io_executor(asio::make_strand(io)), handler));
        }
    }

    void start_posting(retry_scope& scope, asio::io_context& io) {
        auto const operation = [&io, left = below(4)](auto token) mutable {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&io](auto handler, bool fails) {
                    error_code const ec = fails ? asio::error::connection_refused : error_code();
                    asio::post(io, asio::append(std::move(handler), ec));
                },
                token, left-- != 0);
        };
        async_retry(scope, operation, some_policy(),
                    asio::bind_executor(asio::make_strand(some_context(scope)), note_ending()));
    }

    /// Its attempts heed their cancellation.
    void start_on_timer(retry_scope& scope, asio::io_context& io) {
        strand const on = asio::make_strand(io);
        auto operation = [timer = std::make_shared<asio::steady_timer>(on),
                          time = std::chrono::microseconds(below(400))](auto token) {
            timer->expires_after(time);
            return timer->async_wait(std::move(token));
        };
        // Begun on the strand, where the timer belongs, in a scope of its own, which ends inside the handler.
        auto child = std::make_shared<retry_scope>(scope);
        asio::post(on, [on, operation, child, policy = some_policy(), ended = note_ending()] {
            async_retry(*child, operation, policy,
                        asio::bind_executor(on, [child, ended](error_code) { ended(); }));
        });
    }

    void start_coroutine(retry_scope& scope, asio::io_context& io) {
        auto const operation = [left = below(4), pause = below(300)]() mutable -> asio::awaitable<void> {
            asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::microseconds(pause));
            co_await timer.async_wait(asio::use_awaitable);
            if (left-- != 0)
                throw boost::system::system_error(asio::error::connection_refused);
        };
        if (below(2) == 0)
            return async_retry(scope, operation, some_policy(), note_ending());
        async_retry(scope, operation, some_policy(), asio::bind_executor(asio::make_strand(io), note_ending()));
    }

    /// In a scope of its own, by a coroutine that begins another when it has the result, and then ends it.
    void start_awaited(retry_scope& scope, asio::io_context& io) {
        asio::any_io_executor on = io.get_executor(); // where the operation needs a strand of its own
        if (below(2) == 0)
            on = asio::make_strand(io);
        asio::co_spawn(on,
                       await_retries(std::make_shared<retry_scope>(scope), below(300), below(4), some_policy()),
                       note_ending());
    }

    static asio::awaitable<void> await_retries(scope_handle in, std::size_t pause, std::size_t failures,
                                               retry_policy policy) {
        auto const operation = [&]() -> asio::awaitable<error_code> {
            asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::microseconds(pause));
            if (pause % 3 != 0)
                co_await timer.async_wait(asio::use_awaitable);
            co_return failures-- == 0 ? error_code() : error_code(asio::error::connection_refused);
        };
        for (int i = 0; i != 2; ++i)
            co_await async_retry(*in, operation, policy, asio::as_tuple(asio::use_awaitable));
    }

    retry_policy some_policy() {
        auto const delay = std::array<duration, 4>{0ns, 20us, 300us, 1h}[below(4)];
        retry_policy result = retry_policy()
                                  .backoff(constant(delay))
                                  .jitter(no_jitter())
                                  .max_attempts(1 + static_cast<std::int64_t>(below(6)))
                                  .on_retry([this](retry_event const&) { act_sometimes(); });
        if (below(3) == 0)
            result = result.attempt_timeout(std::chrono::microseconds(1 + below(300)));
        if (below(5) == 0)
            result = result.total_timeout(std::chrono::microseconds(1 + below(2000)));
        return result;
    }

    /// Where to run what is begun in the scope.
    asio::io_context& some_context(retry_scope const& scope) {
        if (fate_ == fate::finish)
            return *contexts_[below(2)];
        return static_cast<asio::io_context&>(asio::query(scope.get_executor(), asio::execution::context));
    }

    // --- the scopes

    static constexpr std::size_t most_scopes = 8;
    static constexpr std::size_t burst = 1000;

    scope_handle any_scope() {
        std::lock_guard const lock(mutex_);
        return scopes_.empty() ? nullptr : scopes_[below(scopes_.size())];
    }

    void add(scope_handle scope) {
        std::lock_guard const lock(mutex_);
        if (scopes_.size() < most_scopes)
            scopes_.push_back(std::move(scope));
    }

    /// It ends with the last thread that is using it.
    void remove(scope_handle const& scope) {
        std::lock_guard const lock(mutex_);
        std::erase(scopes_, scope);
    }

    time_point some_time_from_now() {
        return std::chrono::steady_clock::now() + std::chrono::microseconds(below(3000));
    }

    std::size_t below(std::size_t end) {
        return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
    }

    void doing(char const* what) {
        if (number_ < doing_.size())
            doing_[number_] = what;
    }

    void describe(std::ostream& out) const {
        out << "seed " << seed_;
        for (auto const& what : doing_)
            out << ", " << what.load();
        out << "; " << begun_ << " begun, " << called(1) << " ended";
    }

    static inline thread_local scope_forest* self_ = nullptr;
    static inline thread_local unsigned number_ = 0;
    static inline thread_local std::mt19937 random_{};

    std::uint64_t const seed_;
    fate const fate_;
    std::atomic<std::ptrdiff_t> left_;
    std::vector<std::atomic<int>> endings_;
    std::atomic<std::size_t> begun_ = 0;
    std::array<std::atomic<char const*>, 4> doing_{};
    std::atomic<int> at_work_ = 4;
    std::atomic<bool> has_cleared_ = false;
    std::atomic<std::ptrdiff_t> handlers_ = 0;
    std::array<std::optional<asio::io_context>, 2> contexts_;
    std::array<asio::executor_work_guard<asio::io_context::executor_type>, 2> guards_{
        asio::make_work_guard(contexts_[0].emplace()), asio::make_work_guard(contexts_[1].emplace())};
    std::mutex mutex_;
    std::vector<scope_handle> scopes_;
    std::vector<scope_handle> left_over_;
    watchdog dog_{[this](std::ostream& out) { describe(out); }};
};

} // namespace asio_retry::test
