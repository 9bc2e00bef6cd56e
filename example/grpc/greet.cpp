#include <asio_retry/asio_retry.hpp>
#include <asio_retry/grpc.hpp>

#include <boost/asio.hpp>
#include <greeter.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> greet(Greeter::Stub& stub, bool const& over) {
    auto const policy = asio_retry::parse_policy("exponential(50ms, cap=500ms) unlimited_attempts()"
                                                 " attempt_timeout(500ms) total_timeout(30s)");
    auto ask = asio_retry::grpc_unary(stub, &Greeter::Stub::async::SayHello, HelloRequest());
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::steady_clock::now());
    for (; !over; timer.expires_after(std::chrono::milliseconds(10))) {
        co_await timer.async_wait(asio::use_awaitable);
        try {
            HelloReply const reply = co_await asio_retry::async_retry(ask, policy);
        } catch (boost::system::system_error const& e) { // a grpc_error, or a time limit
            std::cout << e.what() << '\n';
        }
    }
}

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: greet localhost:50051\n";
        return 2;
    }
    grpc::ChannelArguments arg;
    arg.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);             // the policy retries instead
    arg.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500); // by default up to 2 minutes
    Greeter::Stub stub(grpc::CreateCustomChannel(argv[1], grpc::InsecureChannelCredentials(), arg));
    asio::io_context io;
    bool over = false;
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](auto...) { over = true; });
    for (int i = 0; i != 10; ++i)
        co_spawn(io, greet(stub, over), asio::detached);
    io.run();
    std::cout << "stopped\n";
}
