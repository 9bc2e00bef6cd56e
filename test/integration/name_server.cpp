#include "name_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <stdexcept>

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace asio_retry::test {
namespace {

void require(bool condition, std::string const& what) {
    if (!condition)
        throw std::runtime_error(what + ": " + std::strerror(errno));
}

bool set_loopback_up() {
    int const socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP;
    bool const is_up = socket >= 0 && ::ioctl(socket, SIOCSIFFLAGS, &loopback) == 0;
    if (socket >= 0)
        ::close(socket);
    return is_up;
}

// A message of RFC 1035, section 4: 12 bytes of header, and then the question, which is labels, type and class.
constexpr std::size_t header_size = 12;

/// Where the name ends. Throws std::out_of_range.
std::size_t end_of_name(std::vector<unsigned char> const& message) {
    std::size_t at = header_size;
    while (message.at(at) != 0)
        at += message[at] + std::size_t(1);
    return at + 1;
}

std::string name_in(std::vector<unsigned char> const& message) {
    std::string name;
    for (std::size_t at = header_size; message.at(at) != 0; at += message[at] + std::size_t(1)) {
        name += name.empty() ? "" : ".";
        for (std::size_t i = 1; i <= message[at]; ++i)
            name += static_cast<char>(message.at(at + i));
    }
    return name;
}

record type_in(std::vector<unsigned char> const& message) {
    std::size_t const at = end_of_name(message);
    return static_cast<record>(message.at(at) << 8 | message.at(at + 1));
}

unsigned char code_of(reply what) {
    switch (what) {
    case reply::malformed:
        return 1;
    case reply::server_failure:
        return 2;
    case reply::no_such_name:
        return 3;
    case reply::refused:
        return 5;
    default:
        return 0;
    }
}

void append(std::vector<unsigned char>& message, std::initializer_list<int> bytes) {
    for (int const byte : bytes)
        message.push_back(static_cast<unsigned char>(byte));
}

std::vector<unsigned char> answer_to(std::vector<unsigned char> const& question, reply what) {
    std::size_t const size = end_of_name(question) + 4;
    std::vector<unsigned char> message = question;
    message.resize(size);
    message[2] = 0x81; // a response, of a server that was asked to ask others
    message[3] = static_cast<unsigned char>(0x80 | code_of(what));
    int const answers = what == reply::address;
    std::copy_n(std::initializer_list<int>{0, 1, 0, answers, 0, 0, 0, 0}.begin(), 8, message.begin() + 4);
    if (what != reply::address)
        return message;
    bool const is_v4 = type_in(question) == record::a;
    append(message, {0xc0, header_size, 0, is_v4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, is_v4 ? 4 : 16});
    if (is_v4)
        append(message, {127, 0, 0, 1});
    else
        append(message, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    return message;
}

} // namespace

// glibc has its name lookup in itself since 2.34, and so needs no file of a library.
own_network::own_network(std::filesystem::path const& root)
    : old_root_(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    std::filesystem::create_directories(root / "etc");
    std::ofstream(root / "etc/nsswitch.conf") << "hosts: dns\n";
    require(::unshare(CLONE_NEWNET | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0, "unshare");
    require(set_loopback_up(), "setting lo up");
    require(::chroot(root.c_str()) == 0 && ::chdir("/") == 0, "chroot");
    configure_lookups("");
}

own_network::~own_network() {
    bool const is_back = ::fchdir(old_root_) == 0 && ::chroot(".") == 0;
    static_cast<void>(is_back);
    ::close(old_root_);
}

void configure_lookups(std::string const& lines) {
    std::ofstream("/etc/resolv.conf.new") << "nameserver 127.0.0.1\n" << lines << '\n';
    std::filesystem::rename("/etc/resolv.conf.new",
                            "/etc/resolv.conf"); // another file, whatever the clock says
}

name_server::name_server(boost::asio::ip::address_v4 at)
    : socket_(io_, udp::endpoint(at, 53)) {
    receive();
    thread_ = std::thread([this] { io_.run(); });
}

name_server::~name_server() {
    io_.stop();
    thread_.join();
}

void name_server::add(std::string const& name, std::vector<reply> a, std::vector<reply> aaaa) {
    std::lock_guard const lock(mutex_);
    scripts_[{name, record::a}] = {std::move(a)};
    scripts_[{name, record::aaaa}] = {std::move(aaaa)};
}

std::size_t name_server::asked(std::string const& name, record type) const {
    std::lock_guard const lock(mutex_);
    return scripts_.at({name, type}).asked;
}

void name_server::await_asked(std::string const& name, record type, std::size_t count) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return scripts_.at({name, type}).asked >= count; });
}

void name_server::release() {
    std::lock_guard const lock(mutex_);
    holds_ = false;
    for (asker const& each : std::exchange(held_, {}))
        send(each, reply::no_address);
}

void name_server::receive() {
    socket_.async_receive_from(boost::asio::buffer(buffer_), sender_,
                               [this](boost::system::error_code ec, std::size_t size) {
                                   if (!ec)
                                       answer({{buffer_.begin(), buffer_.begin() + size}, sender_});
                                   receive();
                               });
}

void name_server::answer(asker const& from) {
    std::lock_guard const lock(mutex_);
    reply const what = next_reply(from);
    changed_.notify_all();
    if (what == reply::held && holds_)
        held_.push_back(from);
    else if (what != reply::lost)
        send(from, what == reply::held ? reply::no_address : what);
}

reply name_server::next_reply(asker const& from) {
    auto const found = scripts_.find({name_in(from.question), type_in(from.question)});
    if (found == scripts_.end())
        return reply::no_such_name;
    auto& [replies, asked] = found->second;
    return replies.at(std::min(asked++, replies.size() - 1));
}

void name_server::send(asker const& to, reply what) {
    boost::system::error_code ignored; // who has asked may have gone
    socket_.send_to(boost::asio::buffer(answer_to(to.question, what)), to.from, 0, ignored);
}

} // namespace asio_retry::test
