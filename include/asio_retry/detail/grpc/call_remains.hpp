#pragma once

#include <asio_retry/detail/handler/pending_calls.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_retry::detail {

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

} // namespace asio_retry::detail
