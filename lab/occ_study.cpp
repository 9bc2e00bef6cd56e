#include "occ_study.hpp"

#include "simulated_client.hpp"

#include <boost/system/errc.hpp>

#include <chrono>
#include <cmath>
#include <deque>
#include <numeric>
#include <queue>
#include <random>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

/// A client that would wait longer has given up; messages may still travel later.
constexpr duration latest_wait = duration::max() / 2;

/// Draws the travel time of messages.
class network {
public:
    explicit network(random& source)
        : source_(source) {}

    duration hop() { return duration(std::llround(std::abs(milliseconds_(source_)) * 1e6)); }

private:
    random& source_;
    std::normal_distribution<double> milliseconds_{10, 2};
};

struct client : simulated_client {
    using simulated_client::simulated_client;
    std::uint64_t read_version = 0;
};

struct message {
    enum class kind { read, read_response, write, write_success, write_failure };

    time_point arrives;
    std::uint64_t number; ///< messages that arrive together keep the order of sending
    kind what;
    std::size_t from;

    friend bool operator>(message const& a, message const& b) {
        return a.arrives != b.arrives ? a.arrives > b.arrives : a.number > b.number;
    }
};

class trial {
public:
    trial(retry_policy const& policy, unsigned clients, std::uint64_t seed)
        : messages_on_their_way_(seed)
        , network_(messages_on_their_way_) {
        for (std::size_t i = 0; i != clients; ++i) {
            clients_.emplace_back(policy, random(seed, i + 1));
            send(message::kind::read, i, duration::zero());
        }
    }

    void run() {
        while (!messages_.empty()) {
            message const next = messages_.top();
            messages_.pop();
            now_ = next.arrives;
            receive(next);
        }
    }

    double time_ms() const {
        return std::chrono::duration<double, std::milli>(now_.time_since_epoch()).count();
    }
    double calls() const { return static_cast<double>(writes_); }
    double gave_up() const { return static_cast<double>(gave_up_); }

private:
    void send(message::kind what, std::size_t from, duration after) {
        messages_.push({now_ + after + network_.hop(), next_number_++, what, from});
    }

    void receive(message const& m) {
        client& c = clients_[m.from];
        switch (m.what) {
        case message::kind::read: // reads the version now, whenever the answer arrives
            c.read_version = version_;
            return send(message::kind::read_response, m.from, duration::zero());
        case message::kind::read_response:
            return send(message::kind::write, m.from, duration::zero());
        case message::kind::write:
            ++writes_;
            if (c.read_version != version_)
                return send(message::kind::write_failure, m.from, duration::zero());
            ++version_;
            return send(message::kind::write_success, m.from, duration::zero());
        case message::kind::write_success:
            c.machine.on_success(now_);
            return;
        case message::kind::write_failure:
            return try_again(m.from);
        }
    }

    void try_again(std::size_t who) {
        static verdict const lost =
            verdict::failure(make_error_code(boost::system::errc::resource_unavailable_try_again));
        client& c = clients_[who];
        retry_action const action = c.machine.on_failure(lost, now_, c.source);
        if (action.what != retry_action::kind::wait || action.delay >= latest_wait - now_.time_since_epoch()) {
            ++gave_up_;
            return;
        }
        c.machine.on_wait_over(now_ + action.delay);
        send(message::kind::read, who, action.delay);
    }

    random messages_on_their_way_;
    network network_;
    std::deque<client> clients_;
    std::priority_queue<message, std::vector<message>, std::greater<>> messages_;
    std::uint64_t next_number_ = 0;
    time_point now_{};
    std::uint64_t version_ = 0;
    std::uint64_t writes_ = 0;
    std::uint64_t gave_up_ = 0;
};

} // namespace

std::vector<occ_algorithm> occ_algorithms() {
    duration const base = 5ms;
    duration const cap = 2s;
    retry_policy const endless = retry_policy().unlimited_attempts();
    retry_policy const growing = endless.backoff(exponential(2 * base).cap(cap));
    return {{"None", endless.backoff(constant(0s)).jitter(no_jitter())},
            {"Exponential", growing.jitter(no_jitter())},
            {"FullJitter", growing.jitter(full_jitter())},
            {"EqualJitter", growing.jitter(equal_jitter())},
            {"Decorr", endless.backoff(constant(base)).jitter(decorrelated_jitter().cap(cap))}};
}

std::vector<occ_result> study_occ(std::vector<occ_algorithm> const& algorithms,
                                  std::vector<unsigned> const& clients, unsigned trials, std::uint64_t seed,
                                  std::function<void(double)> const& progress) {
    std::vector<occ_result> results;
    auto const work_of = [](unsigned count) { return static_cast<double>(count) * count; };
    double const all = std::accumulate(clients.begin(), clients.end(), 0.0,
                                       [&](double sum, unsigned count) { return sum + work_of(count); }) *
                       static_cast<double>(algorithms.size()) * trials;
    double done = 0;
    for (unsigned const count : clients)
        for (occ_algorithm const& algorithm : algorithms) {
            occ_result& result = results.emplace_back(occ_result{count, algorithm.name, {}, {}, {}});
            for (unsigned i = 0; i != trials; ++i) {
                trial one(algorithm.policy, count, random(seed, results.size() << 32 | i)());
                one.run();
                result.time_ms.add(one.time_ms());
                result.calls.add(one.calls());
                result.gave_up.add(one.gave_up());
                progress((done += work_of(count)) / all);
            }
        }
    return results;
}

} // namespace asio_retry::lab
