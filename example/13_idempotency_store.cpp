// A request that must not be done twice, and a receiver that remembers by its key what it has answered. An
// answer is lost; the attempt that follows is answered with the first one's result, and where there is no key
// it is done again.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/idempotency_key.hpp>

#include <boost/asio.hpp>
#include <boost/beast/http.hpp>

#include <iostream>
#include <map>
#include <optional>
#include <string>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using request = http::request<http::string_body>;
using response = http::response<http::string_body>;
using namespace std::chrono_literals;

response answer(http::status status, std::string body = {}) {
    return response(status, 11, std::move(body));
}

class payments {
public:
    asio::awaitable<response> handle(request r) {
        std::string const key(r[asio_retry::idempotency_key_field]);
        if (key.empty())
            co_return co_await charge(r);
        auto const [entry, is_new] =
            known_.try_emplace(key, r.body()); // a real one forgets it after a day or so
        remembered& before = entry->second;
        if (!is_new && before.body != r.body())
            co_return answer(http::status::unprocessable_entity, "this key is of another request");
        if (!is_new && !before.said)
            co_return answer(http::status::conflict, "it is being done");
        if (is_new)
            try {
                before.said = co_await charge(r);
            } catch (...) { // nothing was done: the next attempt may try
                known_.erase(key);
                throw;
            }
        co_return *before.said;
    }

    int charges = 0;

private:
    struct remembered {
        explicit remembered(std::string b)
            : body(std::move(b)) {}
        std::string body;
        std::optional<response> said; // none while it is being done
    };

    asio::awaitable<response> charge(request const&) {
        co_await asio::post(asio::use_awaitable); // others run meanwhile
        co_return answer(http::status::created, "charge " + std::to_string(++charges));
    }

    std::map<std::string, remembered> known_;
};

/// Loses the first answer, when all has been done.
class network {
public:
    explicit network(payments& receiver)
        : receiver_(receiver) {}

    asio::awaitable<response> send(request r) {
        response const said = co_await receiver_.handle(std::move(r));
        if (++sent_ == 1)
            throw boost::system::system_error(asio::error::connection_reset);
        co_return said;
    }

private:
    payments& receiver_;
    int sent_ = 0;
};

// 409 says that an earlier attempt is still being done: to wait and ask again is right.
asio_retry::judgement judge(response const& r) {
    asio_retry::judgement judged = asio_retry::judge_http(static_cast<int>(r.result_int()));
    if (r.result() == http::status::conflict)
        judged.what.kind = asio_retry::failure_kind::transient;
    return judged;
}

asio::awaitable<std::string> pay(network& net, request const& r) {
    auto const policy = asio_retry::retry_policy().backoff(asio_retry::constant(1ms));
    co_return (
        co_await asio_retry::async_retry(asio_retry::fail_if([&] { return net.send(r); }, judge), policy))
        .body();
}

/// Pays once, or from so many windows at once, and shows the answers.
void show(char const* what, request const& r, int windows = 1) {
    asio::io_context io;
    payments receiver;
    network net(receiver);
    std::cout << what;
    for (int i = 0; i != windows; ++i)
        asio::co_spawn(io, pay(net, r), [](std::exception_ptr e, std::string const& said) {
            if (e)
                std::rethrow_exception(e);
            std::cout << ": " << said;
        });
    io.run();
    std::cout << " of " << receiver.charges << '\n';
}

int main() {
    request r(http::verb::post, "/payments", 11, "10 EUR");
    show("without a key", r);

    // One key for all attempts, made before the first.
    r.set(asio_retry::idempotency_key_field, idempotency_field_value(asio_retry::idempotency_key::random()));
    show("with a key", r);
    show("with a key, twice at once", r, 2);
}
