// What changes a state, sent with the version of the state that it was made for, is done once without anybody
// who remembers keys: an attempt that comes again finds another version. Whether that is its own, whose answer
// was lost, or somebody else's, it reads there. An account is a journal of changes, and its length the version.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/idempotency_key.hpp>

#include <boost/asio.hpp>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct change {
    std::string by;
    int euros;
};
using journal = std::vector<change>;

class account {
public:
    asio::awaitable<journal> read() { co_return changes_; }

    asio::awaitable<void> append(change c) {
        changes_.push_back(std::move(c));
        lose_an_answer();
        co_return;
    }

    /// False if it is no longer of this version: in HTTP, `If-Match` and 412.
    asio::awaitable<bool> append(change c, std::size_t version) {
        if (++asked_ == 1)
            changes_.push_back({"somebody else", 5}); // who was faster
        if (changes_.size() != version)
            co_return false;
        changes_.push_back(std::move(c));
        lose_an_answer();
        co_return true;
    }

private:
    void lose_an_answer() {
        if (std::exchange(has_lost_one_, true))
            return;
        changes_.push_back({"somebody else", 5}); // before the next attempt
        throw boost::system::system_error(asio::error::connection_reset);
    }

    journal changes_;
    int asked_ = 0;
    bool has_lost_one_ = false;
};

auto const soon_again = asio_retry::retry_policy().backoff(asio_retry::constant(1ms));

asio::awaitable<void> add_without_version(account& a, change c) {
    co_await asio_retry::async_retry([&] { return a.append(c); }, soon_again);
}

asio::awaitable<void> add_with_version(account& a, change c) {
    for (;;) { // once more for each change by somebody else, which is no failure
        std::size_t const version = (co_await a.read()).size();
        if (co_await asio_retry::async_retry([&] { return a.append(c, version); }, soon_again))
            co_return;
        journal const now = co_await a.read();
        if (now.at(version).by == c.by)
            co_return; // done by an attempt whose answer was lost
    }
}

/// Adds ten euros and shows how often that was done.
asio::awaitable<void> show(char const* what, asio::awaitable<void> (&add)(account&, change)) {
    account a;
    change const own{asio_retry::idempotency_key::random().to_string(), 10};
    co_await add(a, own);
    journal const all = co_await a.read();
    auto const times = std::ranges::count(all, own.by, &change::by);
    std::cout << what << ": " << times << " of " << all.size() << " changes\n";
}

asio::awaitable<void> session() {
    co_await show("without a version", add_without_version);
    co_await show("with a version", add_with_version);
}

int main() {
    asio::io_context io;
    asio::co_spawn(io, session(), [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
    });
    io.run();
}
