#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fleet {

/// What it has answered with success is on the disk then.
inline std::vector<std::string> const on_the_disk{"--appendonly", "yes",    "--appendfsync",
                                                  "always",       "--save", ""};

/// A redis-server in a folder and on a free port of its own, in the foreground, which by default forgets
/// everything when it ends. It ends with this, or with the thread that started it.
class redis_process {
public:
    /// Returns when it answers; throws std::runtime_error if it will not run.
    explicit redis_process(std::string program,
                           std::vector<std::string> options = {"--save", "", "--appendonly", "no"});
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
    std::vector<std::string> const options_;
    std::filesystem::path const folder_;
    unsigned short port_ = 0;
    pid_t process_ = -1;
};

} // namespace fleet
