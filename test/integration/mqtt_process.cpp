#include "mqtt_process.hpp"

#include "own_folder.hpp"
#include "ports.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace asio_retry::test {
namespace {

namespace fs = std::filesystem;

fs::path password_tool(fs::path const& program) {
    return fs::canonical(program).parent_path().parent_path() / "bin/mosquitto_passwd";
}

} // namespace

bool mqtt_process::is_runnable(std::string const& program) {
    // Asked for help it ends with 3.
    return fs::exists(program) && fs::exists(password_tool(program)) &&
           child_process({program, "-h"}, "/dev/null").wait() == 3;
}

mqtt_process::mqtt_process(std::string const& program, std::string const& password, std::string const& limits)
    : folder_(make_folder("mqtt"))
    , program_(fs::canonical(program))
    , port_(free_port()) {
    std::ofstream(folder_ / "conf") << "listener " << port_ << " 127.0.0.1\n"
                                    << "allow_anonymous false\n"
                                    << limits << "password_file " << (folder_ / "passwords").string() << '\n'
                                    << "acl_file " << (folder_ / "access").string() << '\n'
                                    << (::geteuid() == 0 ? "user root\n" : "");
    std::ofstream(folder_ / "access") << "user sensor\ntopic readwrite open/#\ntopic write deaf/#\n";
    set_password(password);
    start();
}

mqtt_process::~mqtt_process() {
    if (process_)
        end(SIGKILL);
    fs::remove_all(folder_);
}

void mqtt_process::start() {
    process_.emplace(std::vector<std::string>{program_, "-c", folder_ / "conf"}, folder_ / "log");
    wait_until_it_answers(port_);
}

std::string mqtt_process::log() const {
    std::ifstream stream(folder_ / "log");
    return {std::istreambuf_iterator<char>(stream), {}};
}

void mqtt_process::set_password(std::string const& password) const {
    child_process write({password_tool(program_), "-c", "-b", folder_ / "passwords", "sensor", password},
                        folder_ / "log");
    if (write.wait() != 0)
        throw std::runtime_error("mosquitto_passwd failed");
}

} // namespace asio_retry::test
