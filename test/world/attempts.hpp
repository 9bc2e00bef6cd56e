#pragma once

#include "world/place.hpp"
#include "world/record.hpp"

#include <asio_retry/attempt.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace asio_retry::world {

/// An attempt whose plan, or somebody, ends or drops it. The first one who asks does so.
template <typename Handler>
class handled_attempt final : public running_attempt {
public:
    handled_attempt(Handler handler, record& of, attempt_plan const& plan)
        : of_(of)
        , plan_(plan)
        , slot_(asio::get_associated_cancellation_slot(handler))
        , handler_(std::move(handler)) {}

    static void begin(Handler handler, record& of, attempt_plan const& plan) {
        using pace = attempt_pace;
        auto const one = std::make_shared<handled_attempt>(std::move(handler), of, plan);
        if (plan.pace != pace::at_once || of.planned)
            one->listen(one);
        switch (plan.pace) {
        case pace::at_once:
        case pace::posted:
            return one->end();
        case pace::timed:
            return of.where.after(plan.takes, [one] { one->end(); });
        case pace::hangs:
            return of.where.parked().park(one);
        }
    }

    void complete(error_code const& error) override { end(error ? fate::error : fate::success, error); }

    /// Its handler is destroyed, on several threads where it would have been called.
    void drop() override {
        auto taken = take();
        if (!taken)
            return;
        of_.may_be_lost = true;
        if (of_.where.is_virtual()) {
            of_.where.note(of_, "drop");
            if (of_.planned)
                of_.planned->watched.dropped();
            return;
        }
        auto const there = asio::get_associated_executor(*taken, of_.where.io().get_executor());
        asio::post(there, [dropped = std::move(*taken)] {});
    }

private:
    void listen(std::shared_ptr<handled_attempt> const& self) {
        hears_ = slot_.is_connected();
        if (!hears_)
            return;
        slot_.assign([weak = std::weak_ptr(self)](asio::cancellation_type_t type) {
            if (auto const told = weak.lock())
                told->on_told(told, type);
        });
    }

    void on_told(std::shared_ptr<handled_attempt> const& self, asio::cancellation_type_t type) {
        if (of_.where.is_virtual()) {
            if (!handler_)
                return;
            of_.where.note(of_, "told", static_cast<int>(type));
            if (of_.planned)
                of_.planned->watched.told(type, of_.where.since());
        }
        switch (plan_.when_told) {
        case attempt_stop::aborts:
            return complete(asio::error::operation_aborted);
        case attempt_stop::aborts_late:
            return of_.where.after(plan_.late, [self] { self->complete(asio::error::operation_aborted); });
        case attempt_stop::ignores:
            return;
        case attempt_stop::succeeds:
            return complete({});
        }
    }

    void end() {
        if (plan_.end == fate::drops)
            return drop();
        bool const fails = plan_.end == fate::error || plan_.end == fate::throws;
        end(plan_.end, fails ? plan_.error : error_code());
    }

    void end(fate how, error_code const& error) {
        auto taken = take();
        if (!taken)
            return;
        of_.where.note(of_, "end", static_cast<int>(how), error.value());
        if (of_.planned)
            of_.planned->watched.ended(how, error, hears_, of_.where.since());
        int const value = how == fate::rejected ? -1 : 1;
        if (plan_.pace == attempt_pace::at_once)
            std::move (*taken)(error, value);
        else
            asio::post(of_.where.io(), asio::append(std::move(*taken), error, value));
    }

    std::optional<Handler> take() {
        std::lock_guard const lock(mutex_);
        if (handler_ && of_.where.is_virtual() && slot_.is_connected())
            slot_.clear();
        return std::exchange(handler_, std::nullopt);
    }

    record& of_;
    attempt_plan const plan_;
    asio::cancellation_slot slot_;
    bool hears_ = false;
    std::mutex mutex_;
    std::optional<Handler> handler_;
};

/// Starts an attempt by its plan: an asynchronous operation `void(error_code, int)`.
template <typename Token>
auto async_attempt(record& of, attempt_plan const& plan, Token&& token) {
    return asio::async_initiate<Token, void(error_code, int)>(
        [&of, plan](auto handler) { handled_attempt<decltype(handler)>::begin(std::move(handler), of, plan); },
        token);
}

} // namespace asio_retry::world
