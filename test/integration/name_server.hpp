#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/udp.hpp>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// A network of the process's own, which is a loopback, and a root folder of its own. So getaddrinfo asks a
/// name_server and nobody else.
class own_network {
public:
    /// Call it before there are threads. Throws std::runtime_error that says what is not permitted.
    explicit own_network(std::filesystem::path const& root);

    /// Goes back to the old root folder, because a sanitizer looks into /proc at the end.
    ~own_network();
    own_network(own_network const&) = delete;
    own_network& operator=(own_network const&) = delete;

private:
    int old_root_;
};

/// The lines of resolv.conf below the first name server, which is 127.0.0.1. glibc reads a changed file again.
void configure_lookups(std::string const& lines);

/// What a name server says to a question.
enum class reply {
    address,        ///< 127.0.0.1 or ::1
    no_address,     ///< the name is known, but has no address of that family
    no_such_name,   ///< NXDOMAIN
    server_failure, ///< SERVFAIL
    refused,        ///< REFUSED
    malformed,      ///< FORMERR
    lost,           ///< nothing
    held,           ///< nothing until `release`, and then that it has no address
};

/// The questions of a lookup: A is about IPv4, AAAA about IPv6.
enum class record { a = 1, aaaa = 28 };

/// A name server at an address of loopback, in a thread of its own.
class name_server {
public:
    explicit name_server(boost::asio::ip::address_v4 at = boost::asio::ip::address_v4::loopback());
    ~name_server();
    name_server(name_server const&) = delete;
    name_server& operator=(name_server const&) = delete;

    /// What it says to the questions about a name, one after the other, and the last reply for good.
    void add(std::string const& name, std::vector<reply> a, std::vector<reply> aaaa);

    /// How often it was asked.
    std::size_t asked(std::string const& name, record type) const;

    /// Returns when it was asked so often.
    void await_asked(std::string const& name, record type, std::size_t count) const;

    /// Answers the questions that it holds, and holds no others.
    void release();

private:
    using udp = boost::asio::ip::udp;
    using question = std::pair<std::string, record>;
    struct asker {
        std::vector<unsigned char> question;
        udp::endpoint from;
    };
    struct script {
        std::vector<reply> replies;
        std::size_t asked = 0;
    };

    void receive();
    void answer(asker const& from);
    reply next_reply(asker const& from);
    void send(asker const& to, reply what);

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::map<question, script> scripts_;
    std::vector<asker> held_;
    bool holds_ = true;

    boost::asio::io_context io_;
    udp::socket socket_;
    std::array<unsigned char, 512> buffer_{};
    udp::endpoint sender_;
    std::thread thread_;
};

} // namespace asio_retry::test
