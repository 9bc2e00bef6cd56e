#include "nginx_process.hpp"

#include "nginx_configuration.hpp"
#include "own_folder.hpp"

#include <asio_retry/permanent.hpp>
#include <asio_retry/retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

free_ports find_ports() {
    asio::io_context io;
    std::vector<tcp::acceptor> taken; // until all are found, so that they differ
    free_ports result{};
    for (unsigned short& port : result)
        port =
            taken.emplace_back(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)).local_endpoint().port();
    return result;
}

} // namespace

nginx_process::nginx_process(std::string const& program,
                             std::function<std::string(free_ports const&)> const& servers)
    : folder_(make_folder("nginx")) {
    for (int i = 0; i != 5; ++i) { // a port may have been taken since it was free
        ports_ = find_ports();
        std::ofstream(folder_ / "nginx.conf") << nginx_in_its_folder << "    access_log off;\n"
                                              << servers(ports_) << "}\n";
        process_.emplace(
            std::vector<std::string>{program, "-p", folder_ / "", "-c", "nginx.conf", "-e", "stderr"},
            folder_ / "log");
        if (answers())
            return;
        process_.reset();
    }
    std::string const said = log();
    std::filesystem::remove_all(folder_);
    throw std::runtime_error(program + " does not run:\n" + said);
}

nginx_process::~nginx_process() {
    process_.reset();
    std::filesystem::remove_all(folder_);
}

bool nginx_process::answers() const {
    auto const connect = [this] {
        if (!process_->is_running())
            throw permanent(std::runtime_error("it has ended"));
        asio::io_context io;
        tcp::socket(io).connect(tcp::endpoint(asio::ip::address_v4::loopback(), ports_[0]));
    };
    try {
        retry(connect, retry_policy().backoff(constant(20ms)).unlimited_attempts().max_elapsed(1min));
        return true;
    } catch (std::exception const&) {
        return false;
    }
}

std::string nginx_process::log() const {
    std::ifstream file(folder_ / "log");
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace asio_retry::test
