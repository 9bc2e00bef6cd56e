#include "postgres_process.hpp"

#include <libpq-fe.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

#include <pwd.h>
#include <unistd.h>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Who PostgreSQL runs as; null: who runs this.
passwd const* other_user() {
    if (::geteuid() != 0)
        return nullptr;
    passwd const* const own = ::getpwnam("postgres");
    return own ? own : ::getpwnam("nobody");
}

/// The command as that user, who ends it if this test dies.
std::vector<std::string> as_user(std::vector<std::string> command) {
    passwd const* const user = other_user();
    if (!user)
        return command;
    std::vector<std::string> whole{"/usr/bin/setpriv", "--reuid=" + std::to_string(user->pw_uid),
                                   "--regid=" + std::to_string(user->pw_gid), "--clear-groups",
                                   "--pdeathsig=QUIT"};
    whole.insert(whole.end(), command.begin(), command.end());
    return whole;
}

std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "asio_retry_postgres.XXXXXX").string();
    if (!::mkdtemp(name.data()))
        throw std::runtime_error("cannot make the folder " + name);
    if (passwd const* const user = other_user(); user && ::chown(name.c_str(), user->pw_uid, user->pw_gid) != 0)
        throw std::runtime_error("cannot give away the folder " + name);
    return name;
}

std::string text_of(std::filesystem::path const& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

bool postgres_process::is_runnable(std::string const& program) {
    return std::filesystem::exists(program) &&
           child_process(as_user({program, "--version"}), "/dev/null").wait() == 0;
}

postgres_process::postgres_process(std::string const& program)
    : program_(std::filesystem::canonical(program))
    , folder_(make_folder()) {
    std::string const initdb = std::filesystem::path(program_).replace_filename("initdb");
    child_process make(as_user({initdb, "--pgdata", folder_ / "data", "--username", "bank", "--auth", "trust",
                                "--no-locale", "--encoding", "UTF8", "--no-sync"}),
                       folder_ / "log");
    if (make.wait() != 0) {
        std::string const said = log();
        std::filesystem::remove_all(folder_);
        throw std::runtime_error("initdb failed:\n" + said);
    }
    start();
}

postgres_process::~postgres_process() {
    if (process_)
        end(SIGQUIT);
    std::filesystem::remove_all(folder_);
}

void postgres_process::start() {
    // Without fsync nothing is lost but by a crash of the whole machine. Plans with indices conflict more
    // rarely.
    std::vector<std::string> command{program_, "-D", folder_ / "data"};
    for (std::string const& setting :
         {std::string("listen_addresses="), "unix_socket_directories=" + folder_.string(),
          std::string("fsync=off"), std::string("max_connections=60"), std::string("deadlock_timeout=20ms"),
          std::string("enable_seqscan=off"), std::string("autovacuum=off")}) {
        command.push_back("-c");
        command.push_back(setting);
    }
    // What was left of one that was killed holds its shared memory for a moment: it ends, and is started again.
    for (auto const end = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < end;) {
        process_.emplace(as_user(command), folder_ / "log");
        while (process_->is_running() && std::chrono::steady_clock::now() < end) {
            if (answers())
                return;
            std::this_thread::sleep_for(10ms);
        }
        process_.reset();
    }
    throw std::runtime_error(program_ + " does not run:\n" + log());
}

void postgres_process::wait() {
    process_->wait();
    process_.reset();
}

bool postgres_process::answers() const {
    return PQping(address().c_str()) == PQPING_OK;
}

std::string postgres_process::address(std::filesystem::path const& folder) {
    return "host=" + folder.string() +
           " port=5432 user=bank dbname=postgres sslmode=disable gssencmode=disable";
}

std::string postgres_process::log() const {
    return text_of(folder_ / "log");
}

} // namespace asio_retry::test
