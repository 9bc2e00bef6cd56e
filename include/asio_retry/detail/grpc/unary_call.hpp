#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/grpc/call_remains.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/handler/pending_calls.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include <grpc/support/time.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace asio_retry::detail {

/// Defined in grpc.hpp.
std::exception_ptr exception_of_status(grpc::Status const& status, bool was_cancelled);

/// Sets what an attempt tells the server.
inline void tell_server(grpc::ClientContext& context, attempt const& which,
                        boost::asio::execution_context& runs_in) {
    if (which.number > 1)
        context.AddMetadata("grpc-previous-rpc-attempts", std::to_string(which.number - 1));
    if (which.deadline == (time_point::max)())
        return;
    duration const left = elapsed_between(scheduler(runs_in).now(), which.deadline);
    gpr_timespec const until =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(left.count(), GPR_TIMESPAN));
    gpr_timespec const own = gpr_convert_clock_type(context.raw_deadline(), GPR_CLOCK_MONOTONIC);
    context.set_deadline(gpr_time_min(own, until));
}

/// The server's wish about retries in the trailing metadata of a failed call.
inline pushback pushback_in(grpc::ClientContext const& context) {
    auto const& fields = context.GetServerTrailingMetadata();
    auto const found = fields.find("grpc-retry-pushback-ms");
    if (found == fields.end())
        return {};
    return parse_grpc_pushback(std::string_view(found->second.data(), found->second.size()));
}

/// One attempt: all that gRPC uses until it has called back, and the handler.
template <typename Request, typename Response, typename Handler>
class unary_call final : public pending_call,
                         public std::enable_shared_from_this<unary_call<Request, Response, Handler>> {
    using caller = working_handler<Handler>;

public:
    unary_call(attempt const& which, std::shared_ptr<Request const> request, Handler&& handler)
        : attempt_(which)
        , request_(std::move(request))
        , caller_(std::in_place, std::move(handler)) {}

    /// `call(context, request, response, callback)` starts it.
    template <typename Call>
    void start(std::function<void(grpc::ClientContext&)> const& prepare, Call call) {
        asio::execution_context& runs_in = asio::query(caller_->runs_on.get(), asio::execution::context);
        asio::execution_context& waits_in =
            asio::query(executor_to_wait_on(caller_->handler), asio::execution::context);
        if (prepare)
            prepare(context_);
        tell_server(context_, attempt_, runs_in);
        auto const self = this->shared_from_this();
        auto slot = asio::get_associated_cancellation_slot(caller_->handler);
        if (slot.is_connected())
            slot.assign(canceller{self});
        call_remains::clear();
        places_.take(self, waits_in, runs_in);
        attempt_.mark_sent();
        {
            std::scoped_lock const lock(*mutex_); // `on_done` sees all of the above
            running_ = self;
        }
        try {
            call(&context_, request_.get(), &response_,
                 [this](grpc::Status status) { on_done(std::move(status)); });
        } catch (...) {
            running_.reset();
            places_.leave();
            throw;
        }
    }

    bool abandon() noexcept override {
        std::optional<caller> destroyed;
        {
            std::scoped_lock const lock(*mutex_); // waits for a callback that is posting, or completes
            if (!caller::take(caller_, destroyed))
                return false;
        }
        context_.TryCancel();
        return true;
    }

private:
    struct canceller {
        void operator()(asio::cancellation_type_t type) const {
            if (type == asio::cancellation_type::none)
                return;
            if (auto const to = call.lock()) {
                to->is_cancelled_ = true;
                to->context_.TryCancel();
            }
        }
        std::weak_ptr<unary_call> call; // the slot may outlive an abandoned call
    };

    /// Mostly on a thread of gRPC, which must not destroy *this: the context may be the last owner of the
    /// channel, and a channel that is destroyed there waits for that thread.
    void on_done(grpc::Status&& status) noexcept {
        auto const mutex = mutex_; // *this may be destroyed as soon as it is posted
        std::scoped_lock const lock(*mutex);
        status_ = std::move(status);
        auto self = std::move(running_);
        if (!caller_)
            return call_remains::keep(std::move(self), remains_);
        try {
            asio::post(caller_->runs_on.get(), [self = std::move(self)] { self->on_turn(); });
        } catch (...) {
            end_here();
        }
    }

    /// On the handler's executor.
    void on_turn() {
        std::optional<caller> completed;
        {
            std::scoped_lock const lock(*mutex_); // `on_done` has ended, and with it its copy of the executor
            if (!caller::take(caller_, completed))
                return; // abandoned, by the end of the context where the operation waits
        }
        places_.leave();
        complete(*completed);
    }

    /// Without memory for a turn the call ends on the present thread. The context keeps what is left of the
    /// call, and destroys it on another thread.
    void end_here() noexcept {
        try {
            std::optional<caller> completed;
            if (caller::take(caller_, completed))
                complete(*completed);
        } catch (...) { // thrown by the handler: nobody is left to take it
        }
    }

    void complete(caller& of) {
        Handler handler = std::move(of.handler);
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected())
            slot.clear();
        std::exception_ptr failure;
        if (!status_.ok()) {
            if (pushback const said = pushback_in(context_))
                attempt_.heed(said);
            failure = failure_of_call();
        }
        std::move(handler)(std::move(failure), std::move(response_));
    }

    std::exception_ptr failure_of_call() const noexcept {
        try {
            return detail::exception_of_status(status_, is_cancelled_);
        } catch (...) { // no memory
            return std::current_exception();
        }
    }

    attempt const attempt_;
    std::shared_ptr<Request const> const request_;
    grpc::ClientContext context_;
    Response response_;
    grpc::Status status_;
    std::atomic<bool> is_cancelled_ = false;
    pending_places places_;
    std::shared_ptr<std::mutex> const mutex_ = std::make_shared<std::mutex>();
    std::shared_ptr<unary_call> running_; // owns *this until gRPC calls back
    call_remains::room remains_;          // for an abandoned call
    std::optional<caller> caller_;        // no value: abandoned, or complete
};

} // namespace asio_retry::detail
