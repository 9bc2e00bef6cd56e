#pragma once

#include <asio_retry/detail/operation/connection_race.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/duration.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/compose.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry {

/// An operation for `async_retry` that makes a new TCP connection in each attempt.
///
///     co_await async_retry(fresh_connection(socket, "example.org", "https"), policy);
///
/// Each attempt closes the socket, looks up host and service, because addresses change, and connects to the
/// first endpoint that accepts. The connects overlap, as in RFC 8305 ("happy eyeballs"): each begins 250 ms
/// after the one before, or at once when that one has failed. So a silent address costs 250 ms and not the
/// attempt. The endpoints of a lookup are tried in its order, but IPv4 and IPv6 in turn. The first connection
/// becomes that of the socket, and the other ones are closed.
///
/// Each connect uses a newly opened socket, because a failed connect leaves a socket unusable. The attempt
/// fails when all endpoints have failed; only then comes the delay. A failed attempt leaves the socket closed.
/// An attempt_timeout is for the lookup and all endpoints of an attempt.
///
/// Preconditions: the program includes `boost/asio/ip/tcp.hpp`, or all of Asio. Nothing else uses the socket
/// during the operation, except that you may close or cancel it on the executor below. Options that you set on
/// the socket before are lost.
///
/// Lifetimes: the socket outlives the operation; the rest is copied.
///
/// Completion signature: void(error_code, tcp::endpoint), with the connected endpoint.
///
/// Executor: the socket's, unless the handler has an associated one. A thread of Asio makes the lookups, one
/// after the other for each context. The timer of the connects uses real time, in a `virtual_time` too.
///
/// Per-operation cancellation: all types, with the same meaning, at once. The system cannot interrupt a lookup
/// that has begun, so the attempt leaves it behind: it ends later, unseen. Until then the context has work and
/// its destructor waits, and later lookups of the context wait for it.
///
/// Errors: that of the lookup; otherwise the error of the last endpoint to fail, or `not_found` if there is no
/// endpoint; `operation_aborted` when cancelled. If you close the socket during the connects, the attempt ends
/// with `operation_aborted`, at the latest when the next of its connects ends or begins. That holds until the
/// attempt completes, also if a connection has won before.
///
/// Thread safety: distinct objects with distinct sockets are independent. On an executor of several threads,
/// the handler of an operation that may be cancelled has a strand as its executor.
template <typename Executor = boost::asio::any_io_executor>
class fresh_connection {
    using tcp = typename detail::tcp_of<Executor>::type;
    using error_code = boost::system::error_code;

public:
    /// The type of the socket that is connected.
    using socket_type = boost::asio::basic_stream_socket<tcp, Executor>;

    /// Looks up `host` and `service` in each attempt.
    fresh_connection(socket_type& socket, std::string host, std::string service)
        : socket_(&socket)
        , host_(std::move(host))
        , service_(std::move(service)) {}

    /// Connects to the first of these endpoints that accepts, without a lookup.
    ///
    /// The connects begin in this order, whatever the families, because you know which endpoint you prefer.
    fresh_connection(socket_type& socket, std::vector<typename tcp::endpoint> endpoints)
        : socket_(&socket)
        , endpoints_(std::move(endpoints))
        , looks_up_(false) {}

    /// Begins each connect this long after the one before, if that has not failed; 250 ms at first.
    ///
    /// Returns a changed copy. RFC 8305 advises 100 ms to 2 s. With duration::max() a connect begins only when
    /// the one before has failed. Throws std::invalid_argument below 10 ms, the least that the RFC permits.
    [[nodiscard]] fresh_connection stagger(saturating_duration delay) const {
        constexpr std::chrono::milliseconds least(10);
        if (delay < least)
            detail::refuse("stagger", delay, "must be at least 10ms");
        fresh_connection changed = *this;
        changed.stagger_ = delay;
        return changed;
    }

    /// Makes one attempt.
    template <typename Token>
    auto operator()(Token&& token) const {
        return boost::asio::async_compose<Token, void(error_code, typename tcp::endpoint)>(one_attempt(*this),
                                                                                           token, *socket_);
    }

private:
    struct any_type_is_terminal {
        boost::asio::cancellation_type_t operator()(boost::asio::cancellation_type_t type) const noexcept {
            constexpr auto none = boost::asio::cancellation_type::none;
            return type == none ? none : boost::asio::cancellation_type::terminal;
        }
    };

    class one_attempt {
    public:
        explicit one_attempt(fresh_connection const& target)
            : target_(target) {}

        template <typename Self>
        void operator()(Self& self) {
            fresh_connection target = std::move(target_); // *this moves with self
            error_code ignored;
            target.socket_->close(ignored);
            self.reset_cancellation_state(any_type_is_terminal());
            auto const race = std::make_shared<detail::connection_race<Executor, Self>>(
                *target.socket_, target.stagger_, std::move(self));
            if (target.looks_up_)
                race->look_up(target.host_, target.service_);
            else
                race->connect(std::move(target.endpoints_));
        }

    private:
        fresh_connection target_;
    };

    socket_type* socket_;
    std::string host_, service_;
    std::vector<typename tcp::endpoint> endpoints_;
    bool looks_up_ = true;
    duration stagger_ = std::chrono::milliseconds(250);
};

} // namespace asio_retry
