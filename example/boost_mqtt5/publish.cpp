#include "publish.hpp"

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

// publish PORT PASSWORD: publishes one message, or says why not.
int main(int argc, char** argv) {
    using namespace std::chrono_literals;
    if (argc != 3)
        return 2;
    auto const patient = asio_retry::retry_policy()
                             .backoff(asio_retry::exponential(50ms).cap(2s))
                             .unlimited_attempts()
                             .total_timeout(30s)
                             .retry_if(asio_retry::worth_retrying);
    asio::io_context io(1);
    broker who{io.get_executor()}; // it stays where it is: its logger points to it
    who.client.brokers("127.0.0.1", static_cast<std::uint16_t>(std::stoi(argv[1])))
        .credentials("example", "sensor", argv[2])
        .keep_alive(2)
        .async_run(asio::detached);
    int status = 1;
    asio::co_spawn(io, publish(who, "open/a", "21 degrees", patient), [&](std::exception_ptr e) {
        who.client.cancel();
        try {
            if (e)
                std::rethrow_exception(e);
            std::cout << "published\n";
            status = 0;
        } catch (std::exception const& failure) {
            std::cout << failure.what() << '\n';
        }
    });
    io.run();
    return status;
}
