#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace gateway {

/// The servers behind the gateway, each with a breaker of its own. Thread-safe.
class upstream_pool {
public:
    explicit upstream_pool(std::vector<boost::asio::ip::tcp::endpoint> const& endpoints);

    std::size_t size() const noexcept { return upstreams_.size(); }
    boost::asio::ip::tcp::endpoint const& endpoint(std::size_t index) const {
        return upstreams_[index].endpoint;
    }
    asio_retry::breaker_state state(std::size_t index, asio_retry::time_point now) const {
        return upstreams_[index].breaker.state(now);
    }

    /// An attempt at one of them, which its breaker is told the end of.
    class place {
    public:
        place(upstream_pool& pool, std::size_t index, asio_retry::time_point began) noexcept
            : pool_(&pool)
            , index_(index)
            , began_(began) {}
        place(place const&) = delete;
        place& operator=(place const&) = delete;
        ~place();

        std::size_t index() const noexcept { return index_; }

        /// Unless it has been called, the attempt was abandoned. `kind` is `none` of a success.
        void end(asio_retry::failure_kind kind) noexcept { kind_ = kind; }

    private:
        upstream_pool* pool_;
        std::size_t index_;
        asio_retry::time_point began_;
        std::optional<asio_retry::failure_kind> kind_;
    };

    /// The next one in turn whose breaker lets an attempt begin, one that has failed only if there is no other;
    /// none if all breakers refuse.
    std::optional<std::size_t> choose(std::vector<bool> const& has_failed, asio_retry::time_point now);

private:
    struct upstream {
        explicit upstream(boost::asio::ip::tcp::endpoint const& where)
            : endpoint(where)
            , breaker(options()) {}
        boost::asio::ip::tcp::endpoint endpoint;
        asio_retry::circuit_breaker breaker;

        static asio_retry::circuit_breaker_options options();
    };

    bool admits(std::size_t index, asio_retry::time_point now);

    std::deque<upstream> upstreams_;
    std::atomic<std::size_t> turn_ = 0;
};

} // namespace gateway
