#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/inject/injected_fault.hpp>

#include <boost/asio/associator.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// The handler of an attempt. `effect(handler, values...)` completes it, `effect.on_dropped(handler)` hears
/// that it is destroyed instead.
template <typename Handler, typename Effect>
class effected_handler {
public:
    effected_handler(Handler&& handler, Effect&& effect)
        : effect_(std::move(effect))
        , handler_(std::move(handler)) {}
    effected_handler(effected_handler&&) = default;
    effected_handler& operator=(effected_handler&&) = delete;
    ~effected_handler() { effect_.on_dropped(handler_); }

    template <typename... Args>
    void operator()(Args&&... args) {
        effect_(std::move(handler_), std::forward<Args>(args)...);
    }

    Handler const& handler() const noexcept { return handler_; }
    auto get_io_executor() const { return executor_to_wait_on(handler_); }

private:
    Effect effect_;
    Handler handler_;
};

/// Loses the answer of a success.
template <typename Signature>
class answer_loss {
    using completion = detail::completion<Signature>;
    using arguments = typename completion::arguments;

public:
    answer_loss(std::shared_ptr<fault_plan> plan, error_code const& code) noexcept
        : plan_(std::move(plan))
        , code_(code) {}

    template <typename Handler, typename... Args>
    void operator()(Handler&& handler, Args&&... args) {
        detail::unpack(std::forward<Handler>(handler), without_answer(std::forward<Args>(args)...),
                       places_of<arguments>);
    }

    template <typename Handler>
    void on_dropped(Handler&) noexcept {}

private:
    template <typename... Args>
    arguments without_answer(Args&&... args) {
        arguments result(std::forward<Args>(args)...);
        if (completion::is_failure(result))
            return result;
        fault_access::count_lost_answer(*plan_);
        return completion::failed(code_, nullptr);
    }

    std::shared_ptr<fault_plan> plan_;
    error_code code_;
};

/// Keeps the handler of an attempt while the attempt begins after a delay. If beginning throws, `take` returns
/// the handler, unless it was called or kept.
template <typename Handler>
class delayed_beginning {
public:
    enum class fate : unsigned char { kept, called, dropped };

    fate of_handler() const noexcept { return fate_.load(std::memory_order_acquire); }

    /// Precondition: of_handler() == fate::dropped.
    Handler take() { return std::move(*dropped_); }

    void note_call() noexcept { fate_.store(fate::called, std::memory_order_relaxed); }
    void note_drop(Handler& handler) noexcept {
        dropped_.emplace(std::move(handler));
        fate_.store(fate::dropped, std::memory_order_release);
    }

private:
    std::optional<Handler> dropped_;
    std::atomic<fate> fate_ = fate::kept;
};

/// Notes in the beginning what happens to the handler.
template <typename Handler>
class beginning_link {
public:
    explicit beginning_link(std::shared_ptr<delayed_beginning<Handler>> to) noexcept
        : to_(std::move(to)) {}

    template <typename... Args>
    void operator()(Handler&& handler, Args&&... args) {
        to_->note_call();
        to_.reset();
        std::move(handler)(std::forward<Args>(args)...);
    }

    void on_dropped(Handler& handler) noexcept {
        if (to_)
            to_->note_drop(handler);
    }

private:
    std::shared_ptr<delayed_beginning<Handler>> to_; // null once the handler was called or moved away
};

} // namespace asio_retry::detail

template <template <typename, typename> class Associator, typename Handler, typename Effect, typename Default>
struct boost::asio::associator<Associator, asio_retry::detail::effected_handler<Handler, Effect>, Default>
    : Associator<Handler, Default> {
    using effected = asio_retry::detail::effected_handler<Handler, Effect>;

    static typename Associator<Handler, Default>::type get(effected const& by) noexcept {
        return Associator<Handler, Default>::get(by.handler());
    }
    static auto get(effected const& by, Default const& otherwise) noexcept
        -> decltype(Associator<Handler, Default>::get(by.handler(), otherwise)) {
        return Associator<Handler, Default>::get(by.handler(), otherwise);
    }
};
