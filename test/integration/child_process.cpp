#include "child_process.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace asio_retry::test {

child_process::child_process(std::vector<std::string> arguments, std::filesystem::path const& log) {
    std::vector<char*> argv;
    for (std::string& argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_t const parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0)
        throw std::runtime_error("cannot fork");
    if (process_ > 0)
        return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        std::_Exit(1);
    int const file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::close_range(STDERR_FILENO + 1, ~0u, 0); // a socket that it held would not be closed with that of the test
    ::execv(argv[0], argv.data());
    std::_Exit(127);
}

child_process::~child_process() {
    if (process_ < 0)
        return;
    send(SIGKILL);
    wait();
}

void child_process::send(int signal) const {
    ::kill(process_, signal);
}

bool child_process::is_running() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

int child_process::wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace asio_retry::test
