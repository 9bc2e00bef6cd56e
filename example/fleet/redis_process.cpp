#include "redis_process.hpp"

#include <asio_retry/permanent.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fleet {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "asio_retry_redis.XXXXXX").string();
    if (!::mkdtemp(name.data()))
        throw std::runtime_error("cannot make the folder " + name);
    return name;
}

/// Not of those that systems give to clients: while the server is down one of them could take it, or be
/// connected to itself.
unsigned short free_port() {
    asio::io_context io;
    asio_retry::random dice(
        static_cast<std::uint64_t>(::getpid()) ^
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    for (int i = 0; i != 1000; ++i) {
        tcp::endpoint const candidate(asio::ip::address_v4::loopback(),
                                      static_cast<unsigned short>(dice.uniform(10'000, 29'999)));
        tcp::acceptor acceptor(io);
        error_code taken;
        acceptor.open(candidate.protocol());
        acceptor.bind(candidate, taken);
        if (!taken)
            return candidate.port();
    }
    throw std::runtime_error("there is no free port");
}

} // namespace

redis_process::redis_process(std::string program, std::vector<std::string> options)
    : program_(std::move(program))
    , options_(std::move(options))
    , folder_(make_folder()) {
    for (int i = 0; i != 5; ++i) { // a port may have been taken since it was free
        port_ = free_port();
        start();
        if (answers())
            return;
        kill();
    }
    std::filesystem::remove_all(folder_);
    throw std::runtime_error(program_ + " does not run");
}

redis_process::~redis_process() {
    kill();
    std::filesystem::remove_all(folder_);
}

void redis_process::restart() {
    kill();
    start();
    if (!answers())
        throw std::runtime_error(program_ + " does not run again");
}

void redis_process::kill() {
    if (process_ < 0)
        return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
}

void redis_process::pause() {
    ::kill(process_, SIGSTOP);
}

void redis_process::go_on() {
    ::kill(process_, SIGCONT);
}

void redis_process::start() {
    std::vector<std::string> arguments{program_, "--port",         std::to_string(port_), "--bind", "127.0.0.1",
                                       "--dir",  folder_.string(), "--daemonize",         "no"};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    std::vector<char*> words;
    for (std::string& argument : arguments)
        words.push_back(argument.data());
    words.push_back(nullptr);
    std::string const output = (folder_ / "log").string();
    pid_t const parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0)
        throw std::runtime_error("cannot fork");
    if (process_ > 0)
        return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        std::_Exit(1);
    int const file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::close_range(STDERR_FILENO + 1, ~0u, 0); // a connection that it held would not end with its client
    ::execv(words[0], words.data());
    std::_Exit(127);
}

bool redis_process::answers() {
    auto const ping = [this] {
        if (::waitpid(process_, nullptr, WNOHANG) != 0) {
            process_ = -1;
            throw asio_retry::permanent(std::runtime_error("it has ended"));
        }
        asio::io_context io;
        tcp::socket socket(io);
        socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), port_));
        asio::write(socket, asio::buffer("PING\r\n", 6));
        char answer[5];
        asio::read(socket, asio::buffer(answer));
        if (std::string(answer, 5) != "+PONG")
            throw std::runtime_error("it says something else");
    };
    try {
        asio_retry::retry(ping, asio_retry::retry_policy()
                                    .backoff(asio_retry::constant(20ms))
                                    .unlimited_attempts()
                                    .max_elapsed(1min));
        return true;
    } catch (std::exception const&) {
        return false;
    }
}

} // namespace fleet
