#pragma once

#include <boost/asio/execution_context.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_retry::detail {

/// A call that gRPC carries out for a handler.
class pending_call {
public:
    /// Destroys the handler without a call, since its context is being destroyed. gRPC may go on for a while.
    virtual void abandon() noexcept = 0;

protected:
    ~pending_call() = default;
};

/// Calls that were abandoned and have ended on a thread of gRPC. Another thread destroys them.
class call_remains {
    using list = std::list<std::shared_ptr<pending_call>>;

public:
    /// A place for one call, allocated before the call begins, because nothing may throw on a thread of gRPC.
    class room {
        friend call_remains;
        list one_ = list(1);
    };

    static void keep(std::shared_ptr<pending_call> call, room& in) noexcept {
        in.one_.front() = std::move(call);
        call_remains& all = of_process();
        std::scoped_lock const lock(all.mutex_);
        all.calls_.splice(all.calls_.begin(), in.one_);
    }

    static void clear() noexcept {
        list taken; // ends without the lock
        call_remains& all = of_process();
        std::scoped_lock const lock(all.mutex_);
        taken.swap(all.calls_);
    }

private:
    static call_remains& of_process() {
        static auto* const all = new call_remains; // never destroyed: gRPC may call back until the very end
        return *all;
    }

    std::mutex mutex_;
    list calls_;
};

/// The calls of an execution context whose handlers have not been called.
///
/// gRPC completes calls on its own threads. Before the context is destroyed, this takes the handlers from them.
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
