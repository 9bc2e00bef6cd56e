#pragma once

#include "child_process.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace asio_retry::test {

/// A Mosquitto with a password file in a folder of its own, on a port of the loopback. It forgets its sessions
/// when it ends.
class mqtt_process {
public:
    /// `program` is mosquitto; mosquitto_passwd is in bin beside its folder. Whether they can be run here.
    static bool is_runnable(std::string const& program);

    /// Starts it for the user `sensor`, who may use topics that begin with `open/` and only write those that
    /// begin with `deaf/`. `limits` are lines of its configuration: by default there is none, while Mosquitto's
    /// own drops the 1001st message. Throws std::runtime_error.
    mqtt_process(std::string const& program, std::string const& password,
                 std::string const& limits = "max_queued_messages 0\n");

    mqtt_process(mqtt_process const&) = delete;
    mqtt_process& operator=(mqtt_process const&) = delete;
    ~mqtt_process();

    /// Returns when it accepts connections.
    void start();

    void send(int signal) const { process_->send(signal); }

    /// Sends the signal and waits for its end.
    void end(int signal) {
        send(signal);
        process_->wait();
        process_.reset();
    }

    /// From its next start on.
    void set_password(std::string const& password) const;

    unsigned short port() const noexcept { return port_; }

    /// What it has said.
    std::string log() const;

private:
    std::filesystem::path folder_;
    std::filesystem::path program_;
    unsigned short port_;
    std::optional<child_process> process_;
};

} // namespace asio_retry::test
