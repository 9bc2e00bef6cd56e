#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

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
/// first endpoint that accepts. Each connect uses a newly opened socket, because a failed connect leaves a
/// socket unusable. The attempt fails when the last endpoint has failed; only then comes the delay. A failed
/// attempt leaves the socket closed. An attempt_timeout is for all endpoints of an attempt.
///
/// Preconditions: nothing else uses the socket during the operation. Options that you set on the socket before
/// are lost.
///
/// Lifetimes: the socket outlives the operation; the rest is copied.
///
/// Completion signature: void(error_code, tcp::endpoint), with the connected endpoint.
///
/// Executor: the socket's, unless the handler has an associated one. A thread of Asio makes the lookups.
///
/// Per-operation cancellation: all types, with the same meaning. A connect ends at once. A lookup that the
/// system has begun cannot be interrupted. The attempt then ends when the lookup returns, with
/// `operation_aborted` and without connecting; time limits of the policy wait for it too.
///
/// Errors: that of the lookup; otherwise the error of the last endpoint, or `not_found` if there is no
/// endpoint; `operation_aborted` when cancelled, or when the socket was closed during a connect.
///
/// Thread safety: distinct objects with distinct sockets are independent. On an executor of several threads,
/// the handler of an operation that may be cancelled has a strand as its executor.
template <typename Executor = boost::asio::any_io_executor>
class fresh_connection {
    using tcp = boost::asio::ip::tcp;
    using resolver = boost::asio::ip::basic_resolver<tcp, Executor>;
    using error_code = boost::system::error_code;

public:
    /// The type of the socket that is connected.
    using socket_type = boost::asio::basic_stream_socket<tcp, Executor>;

    /// Looks up `host` and `service` in each attempt.
    fresh_connection(socket_type& socket, std::string host, std::string service)
        : socket_(&socket)
        , host_(std::move(host))
        , service_(std::move(service)) {}

    /// Connects to the first of these endpoints that accepts, in this order, without a lookup.
    fresh_connection(socket_type& socket, std::vector<tcp::endpoint> endpoints)
        : socket_(&socket)
        , endpoints_(std::move(endpoints))
        , looks_up_(false) {}

    /// Makes one attempt.
    template <typename Token>
    auto operator()(Token&& token) const {
        return boost::asio::async_compose<Token, void(error_code, tcp::endpoint)>(one_attempt(*this), token,
                                                                                  *socket_);
    }

private:
    struct any_type_is_terminal {
        boost::asio::cancellation_type_t operator()(boost::asio::cancellation_type_t type) const noexcept {
            constexpr auto none = boost::asio::cancellation_type::none;
            return type == none ? none : boost::asio::cancellation_type::terminal;
        }
    };

    // If the socket has a default token, only a condition says which async_connect is meant.
    struct any_endpoint {
        bool operator()(error_code const&, tcp::endpoint const&) const noexcept { return true; }
    };

    class one_attempt {
    public:
        explicit one_attempt(fresh_connection const& target)
            : target_(target) {}

        template <typename Self>
        void operator()(Self& self) {
            close();
            self.reset_cancellation_state(any_type_is_terminal());
            if (target_.looks_up_)
                look_up(self);
            else
                connect(self, std::vector<tcp::endpoint>(std::move(target_.endpoints_)));
        }

        template <typename Self>
        void operator()(Self& self, error_code ec, typename resolver::results_type found) {
            lookup_.reset();
            if (self.cancelled() != boost::asio::cancellation_type::none)
                ec = boost::asio::error::operation_aborted; // the lookup may not have heard of it
            if (ec)
                self.complete(ec, tcp::endpoint());
            else
                connect(self, found);
        }

        template <typename Self>
        void operator()(Self& self, error_code ec, tcp::endpoint connected) {
            if (ec)
                close();
            self.complete(ec, connected);
        }

    private:
        template <typename Self>
        void look_up(Self& self) {
            // Not from the handler's allocator: the slot may keep a part of it beyond the attempt.
            auto const lookup = std::make_shared<resolver>(target_.socket_->get_executor());
            lookup_ = lookup;
            // A lookup knows nothing of slots. The handler of the slot may outlive it.
            if (auto slot = self.get_cancellation_state().slot(); slot.is_connected())
                slot.assign([weak = std::weak_ptr(lookup)](boost::asio::cancellation_type_t) {
                    if (auto const running = weak.lock())
                        running->cancel();
                });
            std::string const host = std::move(target_.host_), service = std::move(target_.service_);
            lookup->async_resolve(host, service, std::move(self));
        }

        template <typename Self, typename Endpoints>
        void connect(Self& self, Endpoints const& endpoints) {
            socket_type& socket = *target_.socket_; // *this moves with self
            boost::asio::async_connect(socket, endpoints, any_endpoint(), std::move(self));
        }

        void close() {
            error_code ignored;
            target_.socket_->close(ignored);
        }

        fresh_connection target_;
        std::shared_ptr<resolver> lookup_;
    };

    socket_type* socket_;
    std::string host_, service_;
    std::vector<tcp::endpoint> endpoints_;
    bool looks_up_ = true;
};

} // namespace asio_retry
