#pragma once

#include "world/choices.hpp"
#include "world/endings.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace asio_retry::world {

namespace asio = boost::asio;
using boost::system::error_code;

/// An attempt that goes on until somebody completes or drops it. The first one who asks does so.
class parked_attempt {
public:
    virtual ~parked_attempt() = default;
    virtual void complete(error_code ec) = 0;
    virtual void drop() = 0;
};

template <typename Handler>
class parked_handler final : public parked_attempt {
public:
    parked_handler(Handler handler, asio::io_context& io, ending& told)
        : io_(io)
        , told_(told)
        , handler_(std::move(handler)) {}

    void complete(error_code ec) override {
        if (auto taken = take())
            asio::post(io_, asio::append(std::move(*taken), ec, 1));
    }

    /// Its handler is destroyed where it would have been called.
    void drop() override {
        if (auto taken = take()) {
            told_.may_be_lost = true;
            auto const where = asio::get_associated_executor(*taken, io_.get_executor());
            asio::post(where, [dropped = std::move(*taken)] {});
        }
    }

private:
    std::optional<Handler> take() {
        std::lock_guard const lock(mutex_);
        return std::exchange(handler_, std::nullopt);
    }

    asio::io_context& io_;
    ending& told_;
    std::mutex mutex_;
    std::optional<Handler> handler_;
};

/// Those of one context.
class parked_attempts {
public:
    template <typename Handler>
    void park(Handler handler, asio::io_context& io, ending& told, bool obeys) {
        auto slot = asio::get_associated_cancellation_slot(handler);
        auto const parked = std::make_shared<parked_handler<Handler>>(std::move(handler), io, told);
        if (slot.is_connected() && obeys)
            slot.assign([weak = std::weak_ptr<parked_attempt>(parked)](asio::cancellation_type_t) {
                if (auto const attempt = weak.lock())
                    attempt->complete(asio::error::operation_aborted);
            });
        std::lock_guard const lock(mutex_);
        all_.push_back(parked);
    }

    /// Any one of them, or null.
    std::shared_ptr<parked_attempt> take(choices& dice) {
        std::lock_guard const lock(mutex_);
        if (all_.empty())
            return nullptr;
        std::swap(dice.any_of(all_), all_.back());
        auto const taken = std::move(all_.back());
        all_.pop_back();
        return taken;
    }

    void clear() {
        std::vector<std::shared_ptr<parked_attempt>> dropped; // without the lock
        std::lock_guard const lock(mutex_);
        dropped.swap(all_);
    }

private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<parked_attempt>> all_;
};

} // namespace asio_retry::world
