// The recipe of doc/guide/grpc.md while its server is killed, stopped and restarted. The server is of Python.
#include "child_process.hpp"
#include "own_folder.hpp"
#include "ports.hpp"
#include "run_with_programs.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

std::string python_program, greeter_script, greet_program;

class grpc_outage : public test_in_folder {
protected:
    grpc_outage()
        : test_in_folder("grpc_outage") {}

    void start_server() {
        server_ = std::make_unique<child_process>(
            std::vector<std::string>{python_program, "-B", greeter_script, address_}, folder / "server");
        wait_until_it_answers(port_);
    }

    /// Waits until each of so many servers was asked: a server says so once.
    void wait_until_asked(int servers) const {
        std::string wanted;
        for (int i = 0; i != servers; ++i)
            wanted += "answers\n";
        auto const look = [&] {
            if (std::string const said = text_of("server"); said != wanted)
                throw std::runtime_error("the servers said: " + said);
        };
        retry(look, retry_policy().backoff(constant(20ms)).unlimited_attempts().max_elapsed(60s));
    }

    std::string text_of(char const* name) const {
        std::ifstream file(folder / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    unsigned short const port_ = free_port();
    std::string const address_ = "127.0.0.1:" + std::to_string(port_);
    std::unique_ptr<child_process> server_;
};

TEST_F(grpc_outage, no_request_fails_while_the_server_is_killed_stopped_and_restarted) {
    start_server();
    child_process client({greet_program, address_}, folder / "client");
    wait_until_asked(1);
    server_->send(SIGKILL);
    std::this_thread::sleep_for(1s);
    start_server();
    wait_until_asked(2);
    server_->send(SIGSTOP);
    std::this_thread::sleep_for(2s);
    EXPECT_TRUE(client.is_running());
    server_->send(SIGCONT);
    std::this_thread::sleep_for(1s);
    server_->send(SIGTERM);
    server_->wait();
    start_server();
    wait_until_asked(3);
    client.send(SIGTERM);
    EXPECT_EQ(client.wait(), 0);
    EXPECT_EQ(text_of("client"), "stopped\n");
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&greeter_script, &greet_program, &python_program}, "python3-grpcio");
}
