#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/duration.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::detail {

using tcp_endpoint = boost::asio::ip::basic_endpoint<boost::asio::ip::tcp>;

/// Endpoints of the first one's family and of the other family in turn, as long as there are both (RFC 8305,
/// section 4). Endpoints of one family stay in their order.
ASIO_RETRY_DECL std::vector<tcp_endpoint> interleave_families(std::vector<tcp_endpoint> const& found);

/// Asio's socket. The class is complete in a program that has a socket with this executor.
template <typename Executor>
struct tcp_of {
    using type = boost::asio::ip::tcp;
};

/// Keeps an executor's context running. A work guard cannot hold a strand on any_io_executor, and executors of
/// the Networking TS have no `tracked` work.
template <typename Executor>
auto work_on(Executor const& executor) {
    if constexpr (boost::asio::execution::is_executor<Executor>::value)
        return boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked);
    else
        return boost::asio::executor_work_guard<Executor>(executor);
}

/// One attempt of a `fresh_connection`. It connects to several endpoints. Each connect begins a while after the
/// previous one, and the first connection wins.
///
/// The attempt ends when all of its connects and its timer have ended. Only an abandoned lookup may outlive it.
/// If the user's socket is free, it makes the next connect; so closing the socket ends the attempt. Events may
/// come from several threads.
template <typename Executor, typename Self>
class connection_race : public std::enable_shared_from_this<connection_race<Executor, Self>> {
    using tcp = typename tcp_of<Executor>::type;
    using endpoint = typename tcp::endpoint;
    using error_code = boost::system::error_code;
    using socket_type = boost::asio::basic_stream_socket<tcp, Executor>;
    using resolver = boost::asio::ip::basic_resolver<tcp, Executor>;
    using clock = std::chrono::steady_clock;
    using timer = boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>, Executor>;
    using home = boost::asio::associated_executor_t<Self, Executor>;

public:
    connection_race(socket_type& target, duration stagger, Self&& self)
        : self_(std::move(self))
        , executor_(boost::asio::get_associated_executor(self_, target.get_executor()))
        , work_(work_on(executor_))
        , io_executor_(target.get_executor())
        , target_(target)
        , stagger_(stagger)
        , timer_(std::in_place, target.get_executor()) {}

    /// @name The beginning
    /// @{
    void look_up(std::string const& host, std::string const& service) {
        std::lock_guard const lock(mutex_);
        hear_of_cancellation();
        auto const lookup = std::make_shared<way_back>(this->shared_from_this());
        lookup_ = lookup;
        resolver_.emplace(target_.get_executor())
            .async_resolve(host, service,
                           [lookup](error_code ec, typename resolver::results_type const& found) {
                               if (auto race = lookup->take())
                                   bring_home(std::move(race), ec, found);
                           });
        ++pending_;
    }

    void connect(std::vector<endpoint> endpoints) {
        std::lock_guard const lock(mutex_);
        hear_of_cancellation();
        begin(std::move(endpoints));
    }
    /// @}

private:
    /// Leads from a lookup back to its attempt, unless the attempt has ended. Only the lookup owns it.
    class way_back {
    public:
        explicit way_back(std::shared_ptr<connection_race> race) noexcept
            : race_(std::move(race)) {}
        way_back(way_back const&) = delete;
        way_back& operator=(way_back const&) = delete;

        /// Asio destroys a lookup in the middle of an exception if it has no memory for the result.
        ~way_back() {
            if (race_ && race_->pending_ > 0 && std::uncaught_exceptions() > 0)
                race_->end_without_memory();
        }

        /// Returns the attempt to the first caller, and null to all others.
        std::shared_ptr<connection_race> take() noexcept {
            std::lock_guard const lock(mutex_);
            return std::exchange(race_, nullptr);
        }
        void give_back(std::shared_ptr<connection_race> race) noexcept {
            std::lock_guard const lock(mutex_);
            race_ = std::move(race);
        }

    private:
        std::mutex mutex_;
        std::shared_ptr<connection_race> race_;
    };

    // Each event runs on the handler's executor, and may be the last one.
    template <typename Event>
    static void on_event(std::shared_ptr<connection_race> race, Event&& event) {
        {
            std::lock_guard const lock(race->mutex_);
            --race->pending_;
            if (!race->is_over_ && race->target_is_open_ && !race->target_.is_open())
                race->stop(); // the program has closed it
            try {
                event(*race);
            } catch (...) { // no memory
                race->fail(boost::asio::error::no_memory);
            }
            if (race->pending_ != 0)
                return;
            race->is_over_ = true;
        }
        end(std::move(race));
    }

    /// Makes a handler for `event`. When its operation has begun, the caller increments `pending_`.
    template <typename Event>
    auto then(Event event) {
        return boost::asio::bind_executor(
            executor_, [race = this->shared_from_this(), event](auto const&... results) mutable {
                on_event(std::move(race), [&](connection_race& it) { event(it, results...); });
            });
    }

    // Moves the result of the lookup from the resolver's executor to the handler's.
    static void bring_home(std::shared_ptr<connection_race> race, error_code ec,
                           typename resolver::results_type const& found) {
        try {
            boost::asio::dispatch(boost::asio::bind_executor(race->executor_, [race, ec, found]() mutable {
                race->is_home_ = true;
                on_event(std::move(race), [&](connection_race& it) { it.on_found(ec, found); });
            }));
        } catch (...) {
            if (race->is_home_) // the program's handler has thrown
                throw;
            // No memory for a turn on the executor: the attempt ends here.
            on_event(std::move(race), [](connection_race& it) { it.fail(boost::asio::error::no_memory); });
        }
    }

    void end_without_memory() noexcept {
        try {
            boost::asio::post(io_executor_,
                              then([](connection_race& it) { it.fail(boost::asio::error::no_memory); }));
        } catch (...) { // without memory for a turn
        }
    }

    void on_found(error_code ec, typename resolver::results_type const& found) {
        if (is_over_)
            return;
        if (ec)
            failure_ = ec;
        else
            begin(interleave_families(std::vector<endpoint>(found.begin(), found.end())));
    }

    void begin(std::vector<endpoint> endpoints) {
        endpoints_ = std::move(endpoints);
        failure_ = boost::asio::error::not_found;
        if (endpoints_.empty())
            post_nothing();
        else
            begin_next();
    }

    void begin_next() {
        endpoint const to = endpoints_[begun_++];
        bool const is_target = !std::exchange(target_connects_, true);
        if (!is_target)
            others_.push_back(std::make_unique<socket_type>(target_.get_executor()));
        socket_type& by = is_target ? target_ : *others_.back();
        if (is_target)
            close(by);
        by.async_connect(to, then([&by, to, number = begun_](connection_race& it, error_code ec) {
                             it.on_connected(by, to, number, ec);
                         }));
        ++pending_;
        if (is_target)
            target_is_open_ = by.is_open();
        if (begun_ == endpoints_.size()) {
            timer_->cancel();
            return;
        }
        timer_->expires_after(std::chrono::duration_cast<clock::duration>(stagger_));
        try {
            timer_->async_wait(
                then([number = begun_](connection_race& it, error_code) { it.on_wait_over(number); }));
            ++pending_;
        } catch (...) { // the connect that has begun goes on, and the next one begins when it fails
        }
    }

    void on_wait_over(std::size_t number) {
        if (!is_over_ && number == begun_)
            begin_next();
    }

    void on_connected(socket_type& by, endpoint const& to, std::size_t number, error_code ec) {
        if (&by == &target_)
            target_connects_ = false;
        if (is_over_)
            return;
        if (!ec) {
            has_won_ = true;
            connected_ = to;
            failure_ = ec;
            give_up_the_rest(&by);
            if (&by != &target_) // now: a program that closes its socket must close the connection
                target_ = std::move(by);
        } else if (ec == boost::asio::error::operation_aborted) {
            stop(); // the program has cancelled or closed a socket
        } else {
            failure_ = ec;
            if (&by != &target_) // the target stays open, so that the program can close it
                close(by);
            if (number == begun_ && begun_ != endpoints_.size())
                begin_next();
        }
    }

    void stop() { fail(boost::asio::error::operation_aborted); }

    void fail(error_code ec) {
        if (is_over_)
            return;
        failure_ = ec;
        give_up_the_rest(nullptr);
    }

    void give_up_the_rest(socket_type const* winner) {
        is_over_ = true;
        if (auto const lookup = lookup_.lock(); lookup && lookup->take())
            --pending_;
        resolver_.reset();
        timer_->cancel();
        for (auto const& one : others_)
            if (one.get() != winner)
                close(*one);
        if (&target_ != winner)
            close(target_);
    }

    static void end(std::shared_ptr<connection_race> race) {
        if (!race->has_won_)
            close(race->target_);
        else if (!race->target_.is_open()) { // the program has closed it since
            race->failure_ = boost::asio::error::operation_aborted;
            race->connected_ = endpoint();
        }
        race->others_.clear(); // now: another thread may keep `race` alive
        race->timer_.reset();
        race->resolver_.reset();
        Self self(std::move(race->self_));
        error_code const ec = race->failure_;
        endpoint const connected = race->connected_;
        self.get_cancellation_state().slot().clear();
        race.reset(); // free the memory before the handler is called
        self.complete(ec, connected);
    }

    // The handler of the slot may outlive the attempt.
    void hear_of_cancellation() {
        if (auto slot = self_.get_cancellation_state().slot(); slot.is_connected())
            slot.assign([weak = this->weak_from_this()](boost::asio::cancellation_type_t) {
                if (auto const race = weak.lock())
                    race->on_cancelled();
            });
    }

    void on_cancelled() {
        std::lock_guard const lock(mutex_);
        if (is_over_)
            return;
        auto const lookup = lookup_.lock();
        stop();
        if (pending_ != 0)
            return;
        try {
            post_nothing(); // no handler is called inside an emission
        } catch (...) {     // no memory: the attempt ends when its lookup returns
            lookup->give_back(this->shared_from_this());
            ++pending_;
        }
    }

    void post_nothing() {
        boost::asio::post(target_.get_executor(), then([](connection_race&) {}));
        ++pending_;
    }

    static void close(socket_type& socket) {
        error_code ignored;
        socket.close(ignored);
    }

    Self self_;
    home executor_;
    decltype(work_on(std::declval<home const&>())) work_;
    Executor const io_executor_; // of the program's socket, which may be gone before a lookup is
    std::mutex mutex_;
    std::size_t pending_ = 0; // events that are still to come
    bool is_over_ = false;    // a connection has won, or the attempt was stopped
    error_code failure_;
    endpoint connected_;

    socket_type& target_;
    bool target_connects_ = false;
    bool target_is_open_ = false; // it was open after its last connect began
    std::vector<std::unique_ptr<socket_type>> others_;
    bool has_won_ = false; // the connection is the target's

    std::vector<endpoint> endpoints_;
    std::size_t begun_ = 0;
    duration stagger_;
    std::optional<timer> timer_;
    std::optional<resolver> resolver_;
    std::weak_ptr<way_back> lookup_;
    bool is_home_ = false; // the result of the lookup has reached the handler's executor
};

} // namespace asio_retry::detail
