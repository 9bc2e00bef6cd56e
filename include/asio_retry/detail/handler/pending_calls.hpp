#pragma once

#include <asio_retry/detail/handler/operation_executors.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// A call that a foreign thread carries out for a handler.
class pending_call {
public:
    /// Destroys the handler without a call, since its context is being destroyed. The call may go on for a
    /// while. Returns false if the handler is gone already.
    virtual bool abandon() noexcept = 0;

protected:
    ~pending_call() = default;
};

/// The calls of an execution context whose handlers have not been called.
///
/// The calls complete on threads of gRPC or of a pool. Before the context is destroyed, the service takes the
/// handlers out of these calls.
class pending_calls : public boost::asio::execution_context::service {
    using list = std::list<std::shared_ptr<pending_call>>;

public:
    using key_type = pending_calls;

    /// Where a call is kept.
    using place = list::iterator;

    /// Identifies the service to a context.
    inline static boost::asio::execution_context::id id;

    explicit pending_calls(boost::asio::execution_context& context)
        : service(context) {}

    /// Keeps the call until `remove` or the end of the context.
    place add(std::shared_ptr<pending_call> call) {
        list one;
        one.push_back(std::move(call));
        std::scoped_lock const lock(mutex_);
        calls_.splice(calls_.begin(), one);
        return calls_.begin();
    }

    void remove(place at) noexcept {
        list one; // ends without the lock
        std::scoped_lock const lock(mutex_);
        one.splice(one.begin(), calls_, at);
    }

private:
    void shutdown() override {
        for (;;) { // a handler may start a call as it is destroyed
            list all;
            {
                std::scoped_lock const lock(mutex_);
                all.swap(calls_);
            }
            if (all.empty())
                return;
            for (auto const& each : all)
                each->abandon();
        }
    }

    std::mutex mutex_;
    list calls_;
};

/// Registers a call in the waiting context, and in the context of its executor if that is another one. The
/// context that ends first abandons the call.
class pending_places {
public:
    /// If this throws, nothing happened. Precondition: *this is a member of the call.
    void take(std::shared_ptr<pending_call> const& call, boost::asio::execution_context& waits_in,
              boost::asio::execution_context& runs_in) {
        auto& first = boost::asio::use_service<pending_calls>(waits_in);
        waits_ = {&first, first.add(call)};
        if (&waits_in == &runs_in)
            return;
        try {
            auto& second = boost::asio::use_service<pending_calls>(runs_in);
            runs_ = {&second, second.add(std::make_shared<observer>(call, *this))};
        } catch (...) {
            leave(waits_);
            throw;
        }
    }

    /// Precondition: nobody has abandoned the call.
    void leave() noexcept {
        leave(waits_);
        leave(runs_);
    }

private:
    using pending_place = std::pair<pending_calls*, pending_calls::place>;

    /// Keeps nothing alive, because the call may be abandoned and over long before its context ends.
    class observer final : public pending_call {
    public:
        observer(std::weak_ptr<pending_call> call, pending_places& places)
            : call_(std::move(call))
            , places_(places) {}
        bool abandon() noexcept override {
            auto const call = call_.lock();
            bool const abandoned = call && call->abandon();
            if (abandoned) // the other context still exists: its end would have abandoned the call
                leave(places_.waits_);
            return abandoned;
        }

    private:
        std::weak_ptr<pending_call> const call_;
        pending_places& places_;
    };

    static void leave(pending_place& taken) noexcept {
        if (auto* const calls = std::exchange(taken.first, nullptr))
            calls->remove(taken.second);
    }

    pending_place waits_{}, runs_{};
};

/// A handler of a call on a foreign thread. Its executor has work until the handler is gone.
template <typename Handler>
struct working_handler {
    using executor_type = boost::asio::associated_executor_t<Handler>;

    working_executor<executor_type> runs_on;
    Handler handler;

    explicit working_handler(Handler&& given_handler)
        : runs_on(boost::asio::get_associated_executor(given_handler))
        , handler(std::move(given_handler)) {}

    /// Moves the handler from one owner to another. Returns false if it is gone.
    static bool take(std::optional<working_handler>& from, std::optional<working_handler>& to) {
        if (!from)
            return false;
        to.emplace(std::move(*from));
        from.reset();
        return true;
    }
};

} // namespace asio_retry::detail
