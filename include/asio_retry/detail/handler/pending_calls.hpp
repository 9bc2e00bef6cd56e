#pragma once

#include <boost/asio/execution_context.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_retry::detail {

/// A call that a foreign thread carries out for a handler.
class pending_call {
public:
    /// Destroys the handler without a call, since its context is being destroyed. The call may go on for a while.
    virtual void abandon() noexcept = 0;

protected:
    ~pending_call() = default;
};

/// The calls of an execution context whose handlers have not been called.
///
/// The calls complete on threads of gRPC or of a pool. Before the context is destroyed, this takes the handlers from them.
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

} // namespace asio_retry::detail
