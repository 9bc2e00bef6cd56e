#pragma once

#include "child_process.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace asio_retry::test {

/// A MariaDB in a folder of its own, on a port of the loopback and on a socket in its folder.
class mysql_process {
public:
    /// `program` is mariadbd; mariadb-install-db and mariadb are in bin beside its folder. Whether they can be
    /// run here.
    static bool is_runnable(std::string const& program);

    /// Makes a database and starts it, for at most `connections` and one of an administrator. Throws
    /// std::runtime_error.
    mysql_process(std::string const& program, int connections);

    mysql_process(mysql_process const&) = delete;
    mysql_process& operator=(mysql_process const&) = delete;
    ~mysql_process();

    /// Returns when it accepts connections.
    void start();

    void send(int signal) const { process_->send(signal); }

    /// Sends the signal and waits for its end.
    void end(int signal) {
        send(signal);
        process_->wait();
        process_.reset();
    }

    unsigned short port() const noexcept { return port_; }
    std::string socket() const { return folder_ / "socket"; }

    /// What MariaDB's own client says, for that user, in its own words. `option` concerns TLS.
    std::string say_of_client(std::string const& user, std::string const& password,
                              std::string const& option) const;

private:
    bool accepts() const;

    std::filesystem::path folder_;
    std::filesystem::path program_;
    int connections_;
    unsigned short port_;
    std::optional<child_process> process_;
};

} // namespace asio_retry::test
