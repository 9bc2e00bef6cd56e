#include <asio_retry/async_retry.hpp>
#include <asio_retry/grpc.hpp>

#include <boost/asio.hpp>
#include <greeter.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> greet(Greeter::Stub& stub, asio_retry::time_point end, int& failed) {
    auto const policy = asio_retry::retry_policy().max_attempts(50).attempt_timeout(500ms).total_timeout(10s);
    auto ask = asio_retry::grpc_unary(stub, &Greeter::Stub::async::SayHello, HelloRequest());
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::steady_clock::now());
    for (; timer.expiry() < end; timer.expires_after(10ms)) {
        co_await timer.async_wait(asio::use_awaitable);
        try {
            HelloReply const reply = co_await asio_retry::async_retry(ask, policy);
        } catch (boost::system::system_error const& e) { // a grpc_error, or a time limit
            std::cerr << ++failed << ": " << e.what() << '\n';
        }
    }
}

int main() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);             // the policy retries instead
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500); // by default up to 2 minutes
    auto const plain = grpc::InsecureChannelCredentials();
    Greeter::Stub stub(grpc::CreateCustomChannel(std::getenv("GREETER"), plain, arguments));
    asio::io_context io;
    int failed = 0;
    for (int i = 0; i != 10; ++i)
        co_spawn(io, greet(stub, std::chrono::steady_clock::now() + 9s, failed), asio::detached);
    io.run();
    std::cout << failed << " requests failed\n";
}
