#pragma once

#include "world/choices.hpp"
#include "world/endings.hpp"
#include "world/parked_attempts.hpp"

#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/retry_report.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

namespace asio_retry::world {

using strand = asio::strand<asio::io_context::executor_type>;

/// The slot of one operation, and the strand on which somebody may emit.
struct cancel_button {
    std::weak_ptr<asio::cancellation_signal> signal; // its handler owns it
    strand where;

    void press(asio::cancellation_type_t type) const {
        asio::post(where, [weak = signal, type] {
            if (auto const told = weak.lock())
                told->emit(type);
        });
    }
};

/// A ticker that ticks a few times.
struct looping_ticker {
    looping_ticker(strand const& given_where, retry_policy const& policy, int ticks)
        : where(given_where)
        , ticker(given_where, policy)
        , left(ticks) {}

    strand where;
    backoff_ticker ticker;
    int left;
};

/// A context with what its operations need. It may end while other contexts go on.
class place {
public:
    place(int number, bool is_virtual, endings& told);
    ~place() { end(); }
    place(place const&) = delete;
    place& operator=(place const&) = delete;

    /// Locked by whoever uses the place, and exclusively by whoever ends it.
    std::shared_mutex& mutex() noexcept { return in_use_; }
    bool has_ended() const noexcept { return !io_; }
    void end();

    asio::io_context& io() noexcept { return *io_; }
    time_point now() const { return time_ ? time_->now() : std::chrono::steady_clock::now(); }
    virtual_time* time() noexcept { return time_ ? &*time_ : nullptr; }
    parked_attempts& parked() noexcept { return parked_; }
    ending& expect(char const* form) { return endings_.add(form, number_); }

    void add(cancel_button button);
    retry_report& new_report();
    asio::ip::tcp::socket& new_socket();
    void add(std::shared_ptr<looping_ticker> ticker);
    std::shared_ptr<retry_scope> any_scope(choices& dice);
    std::shared_ptr<looping_ticker> any_ticker(choices& dice);
    void use_scopes(choices& dice, duration unit);
    void press_a_button(choices& dice);

    void cancel_all();
    bool is_idle();
    void audit(std::vector<std::string>& violations);

private:
    void add_scope(choices& dice);

    int const number_;
    endings& endings_;
    std::shared_mutex in_use_;
    std::mutex mutex_; // of the containers
    std::deque<retry_report> reports_;
    std::optional<asio::io_context> io_{std::in_place};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
    std::optional<virtual_time> time_;
    std::vector<cancel_button> buttons_;
    std::list<asio::ip::tcp::socket> sockets_;
    std::shared_ptr<retry_scope> root_;
    std::vector<std::shared_ptr<retry_scope>> scopes_; // the root, and what is under it
    std::vector<std::shared_ptr<looping_ticker>> tickers_;
    parked_attempts parked_;
};

} // namespace asio_retry::world
