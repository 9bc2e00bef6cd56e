#include "postgres_process.hpp"

#include "own_folder.hpp"

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

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Who PostgreSQL runs as; null: who runs this.
passwd const* other_user() {
    if (::geteuid() != 0)
        return nullptr;
    passwd const* const own = ::getpwnam("postgres");
    return own ? own : ::getpwnam("nobody");
}

/// The command as that user, who ends it if this test dies, in a folder that everybody may enter.
std::vector<std::string> as_user(std::vector<std::string> command) {
    passwd const* const user = other_user();
    if (!user)
        return command;
    std::vector<std::string> whole{"/usr/bin/env",
                                   "--chdir=/",
                                   "/usr/bin/setpriv",
                                   "--reuid=" + std::to_string(user->pw_uid),
                                   "--regid=" + std::to_string(user->pw_gid),
                                   "--clear-groups",
                                   "--pdeathsig=QUIT"};
    whole.insert(whole.end(), command.begin(), command.end());
    return whole;
}

/// Whether that user may run the program, or enter the folder.
bool is_open_to_user(fs::path const& file) {
    return child_process(as_user({"/usr/bin/test", "-x", file}), "/dev/null").wait() == 0;
}

void give_to_user(fs::path const& file) {
    if (passwd const* const user = other_user();
        user && ::lchown(file.c_str(), user->pw_uid, user->pw_gid) != 0)
        throw std::runtime_error("cannot give away " + file.string());
}

fs::path make_folder_of_user() {
    fs::path const own = fs::temp_directory_path();
    fs::path const result = make_folder("postgres", is_open_to_user(own) ? own : "/tmp");
    give_to_user(result);
    return result;
}

void copy_folder(fs::path const& from, fs::path const& to) {
    fs::create_directories(to);
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

/// PostgreSQL where that user may run it: itself, or a copy in `folder`. The home folder of root is closed to
/// other users, and with it what was unpacked below. Debian has a folder of its version below lib and below
/// share, and the program finds the one from the other.
fs::path open_to_user(fs::path const& program, fs::path const& folder) {
    if (is_open_to_user(program))
        return program;
    fs::path const of_version = program.parent_path().parent_path();
    fs::path const version = of_version.filename();
    copy_folder(of_version, folder / "lib/postgresql" / version);
    fs::path const share = of_version.parent_path().parent_path().parent_path() / "share/postgresql" / version;
    if (fs::exists(share))
        copy_folder(share, folder / "share/postgresql" / version);
    for (auto const& entry : fs::recursive_directory_iterator(folder))
        give_to_user(entry.path());
    return folder / "lib/postgresql" / version / "bin" / program.filename();
}

std::string text_of(fs::path const& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

bool postgres_process::is_runnable(std::string const& program) {
    return fs::exists(program) && child_process({program, "--version"}, "/dev/null").wait() == 0;
}

postgres_process::postgres_process(std::string const& program)
    : folder_(make_folder_of_user())
    , program_(open_to_user(fs::canonical(program), folder_)) {
    make("initdb", {"--username", "bank", "--auth", "trust", "--no-locale", "--encoding", "UTF8", "--no-sync"});
}

postgres_process::postgres_process(std::string const& program, postgres_process const& primary)
    : folder_(make_folder_of_user())
    , program_(open_to_user(fs::canonical(program), folder_)) {
    make("pg_basebackup",
         {"--dbname", primary.address(), "--write-recovery-conf", "--checkpoint", "fast", "--no-sync"});
}

void postgres_process::make(std::string const& tool, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {fs::path(program_).replace_filename(tool), "--pgdata", folder_ / "data"});
    if (child_process(as_user(arguments), folder_ / "log").wait() != 0) {
        std::string const said = log();
        fs::remove_all(folder_);
        throw std::runtime_error(tool + " failed:\n" + said);
    }
    start();
}

postgres_process::~postgres_process() {
    if (process_)
        end(SIGQUIT);
    fs::remove_all(folder_);
}

void postgres_process::start() {
    // Without fsync nothing is lost but by a crash of the whole machine. Plans with indices conflict more
    // rarely.
    std::vector<std::string> command{program_, "-D", folder_ / "data"};
    for (std::string const& setting :
         {std::string("listen_addresses="), "unix_socket_directories=" + folder_.string(),
          std::string("fsync=off"), std::string("max_connections=60"), std::string("deadlock_timeout=20ms"),
          std::string("enable_seqscan=off"), std::string("autovacuum=off"),
          std::string("max_standby_streaming_delay=0")}) {
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

std::string postgres_process::address(fs::path const& folder) {
    return "host=" + folder.string() +
           " port=5432 user=bank dbname=postgres sslmode=disable gssencmode=disable";
}

std::string postgres_process::log() const {
    return text_of(folder_ / "log");
}

} // namespace asio_retry::test
