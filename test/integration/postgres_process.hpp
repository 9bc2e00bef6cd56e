#pragma once

#include "child_process.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace asio_retry::test {

/// A PostgreSQL in a folder of its own, whose socket is there too. It does not run as root: then it is started
/// as the user postgres, or as nobody.
class postgres_process {
public:
    /// `program` is postgres; initdb is beside it. Whether they can be run here.
    static bool is_runnable(std::string const& program);

    /// Makes a database and starts it. Throws std::runtime_error.
    explicit postgres_process(std::string const& program);

    /// Makes a standby of that one, which runs, and starts it. It applies what the primary has done at once,
    /// whoever is in the way. pg_basebackup is beside `program`. Throws std::runtime_error.
    postgres_process(std::string const& program, postgres_process const& primary);

    postgres_process(postgres_process const&) = delete;
    postgres_process& operator=(postgres_process const&) = delete;
    ~postgres_process();

    /// Returns when it answers.
    void start();

    void send(int signal) const { process_->send(signal); }

    /// Waits for its end.
    void wait();

    void end(int signal) {
        send(signal);
        wait();
    }

    std::filesystem::path const& folder() const noexcept { return folder_; }

    /// The socket in `folder` is called so.
    static constexpr char const* socket_name = ".s.PGSQL.5432";

    /// How libpq reaches the socket in a folder.
    static std::string address(std::filesystem::path const& folder);

    std::string address() const { return address(folder_); }

    /// What it has said.
    std::string log() const;

private:
    void make(std::string const& tool, std::vector<std::string> arguments);
    bool answers() const;

    std::filesystem::path folder_;
    std::string program_;
    std::optional<child_process> process_;
};

} // namespace asio_retry::test
