#include "mysql_process.hpp"

#include "own_folder.hpp"
#include "ports.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Where Debian has bin, sbin and share.
fs::path base_of(fs::path const& program) {
    return fs::canonical(program).parent_path().parent_path();
}

fs::path installer_of(fs::path const& program) {
    return base_of(program) / "bin/mariadb-install-db";
}

fs::path client_of(fs::path const& program) {
    return base_of(program) / "bin/mariadb";
}

std::string text_of_log(fs::path const& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

bool mysql_process::is_runnable(std::string const& program) {
    return fs::exists(program) && fs::exists(installer_of(program)) && fs::exists(client_of(program)) &&
           child_process({program, "--no-defaults", "--version"}, "/dev/null").wait() == 0;
}

mysql_process::mysql_process(std::string const& program, int connections)
    : folder_(make_folder("mysql"))
    , program_(fs::canonical(program))
    , connections_(connections)
    , port_(free_port()) {
    child_process make({"/bin/sh", installer_of(program_), "--no-defaults",
                        "--basedir=" + base_of(program_).string(), "--datadir=" + (folder_ / "data").string(),
                        "--auth-root-authentication-method=normal", "--skip-test-db",
                        "--innodb-log-file-size=8M", ::geteuid() == 0 ? "--user=root" : "--force"},
                       folder_ / "log");
    if (make.wait() != 0) {
        std::string const said = text_of_log(folder_ / "log");
        fs::remove_all(folder_);
        throw std::runtime_error("mariadb-install-db failed:\n" + said);
    }
    start();
}

mysql_process::~mysql_process() {
    if (process_)
        end(SIGKILL);
    fs::remove_all(folder_);
}

void mysql_process::start() {
    // What a commit has written is the system's, which outlives a server that is killed.
    std::vector<std::string> command{program_,
                                     "--no-defaults",
                                     "--basedir=" + base_of(program_).string(),
                                     "--datadir=" + (folder_ / "data").string(),
                                     "--socket=" + socket(),
                                     "--pid-file=" + (folder_ / "pid").string(),
                                     "--bind-address=127.0.0.1",
                                     "--port=" + std::to_string(port_),
                                     "--max-connections=" + std::to_string(connections_),
                                     "--connect-timeout=60", // for tests that do not log in
                                     "--innodb-flush-log-at-trx-commit=2",
                                     "--innodb-buffer-pool-size=16M",
                                     "--innodb-log-file-size=8M",
                                     "--skip-log-bin",
                                     "--skip-name-resolve"};
    if (::geteuid() == 0)
        command.push_back("--user=root");
    process_.emplace(command, folder_ / "log");
    for (auto const end = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < end;) {
        if (!process_->is_running())
            break;
        if (accepts())
            return;
        std::this_thread::sleep_for(10ms);
    }
    throw std::runtime_error(program_.string() + " does not run:\n" + text_of_log(folder_ / "log"));
}

std::string mysql_process::say_of_client(std::string const& user, std::string const& password,
                                         std::string const& option) const {
    fs::path const said = folder_ / "client";
    fs::remove(said);
    child_process({client_of(program_), "--no-defaults", option, "--host=127.0.0.1",
                   "--port=" + std::to_string(port_), "--user=" + user, "--password=" + password,
                   "--execute=SELECT 'welcome'"},
                  said)
        .wait();
    return text_of_log(said);
}

bool mysql_process::accepts() const {
    asio::io_context io;
    boost::system::error_code refused;
    tcp::socket(io).connect(on_loopback(port_), refused);
    return !refused;
}

} // namespace asio_retry::test
