#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace fleet {

/// A redis-server in a folder and on a free port of its own, in the foreground, which forgets everything when
/// it ends. It ends with this, or with the program that dies.
class redis_process {
public:
    /// Returns when it answers; throws std::runtime_error if it will not run.
    explicit redis_process(std::string program);
    redis_process(redis_process const&) = delete;
    redis_process& operator=(redis_process const&) = delete;
    ~redis_process();

    unsigned short port() const noexcept { return port_; }

    void kill();    ///< as `kill -9`
    void restart(); ///< on the same port; returns when it answers
    void pause();   ///< it keeps its connections and answers nothing
    void go_on();

private:
    void start();
    bool answers();

    std::string const program_;
    std::filesystem::path const folder_;
    unsigned short port_ = 0;
    pid_t process_ = -1;
};

} // namespace fleet
