#pragma once

#include "child_process.hpp"
#include "nginx_configuration.hpp"
#include "ports.hpp"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// An nginx that answers every request with 200, and logs the request's `X-Id`. It is always on the same port.
class logging_nginx {
public:
    /// `settings` stand before what answers, and may refuse.
    logging_nginx(std::string program, std::filesystem::path folder, std::string settings = {})
        : program_(std::move(program))
        , folder_(std::move(folder))
        , settings_(std::move(settings))
        , port_(free_port()) {
        std::filesystem::create_directory(folder_);
        start();
    }

    unsigned short port() const noexcept { return port_; }

    void start() {
        std::ofstream(folder_ / "nginx.conf") << nginx_in_its_folder << R"(
    log_format seen '$request_method $http_x_id $status $msec $http_grpc_previous_rpc_attempts';
    access_log seen.log seen;
    limit_req_zone all zone=all:1m rate=5r/s;
    limit_req_status 503;
    server {
        listen 127.0.0.1:)" << port_ << R"(;
        location / {)" << settings_ << R"(
            if ($request_method = POST) { return 200 "done"; }
            try_files /page /page;
        }
    }
}
)";
        std::filesystem::create_directory(folder_ / "html");
        std::ofstream(folder_ / "html" / "page") << "a page\n";
        process_.emplace(std::vector<std::string>{program_, "-p", folder_.string() + '/', "-c", "nginx.conf",
                                                  "-e", "stderr"},
                         folder_ / "log");
        wait_until_it_answers(port_);
    }

    void kill() { process_.reset(); }
    void stop() { process_->send(SIGSTOP); }
    void go_on() { process_->send(SIGCONT); }
    void end() {
        process_->send(SIGTERM);
        process_->wait();
    }

    /// The ids of the requests that it has answered, by method.
    std::vector<std::string> seen(std::string const& method) const {
        std::vector<std::string> ids;
        for (auto& line : answers(method))
            ids.push_back(std::move(line.id));
        return ids;
    }

    struct logged {
        std::string id;
        int status = 0;
        double at = 0;             ///< in seconds
        std::uint64_t attempt = 1; ///< as the client says
    };

    /// An answer that was written while the server was killed may be missing.
    std::vector<logged> answers(std::string const& method) const {
        std::ifstream file(folder_ / "seen.log");
        std::vector<logged> result;
        for (std::string text; std::getline(file, text);) {
            std::istringstream line(text);
            logged read;
            std::string name;
            std::uint64_t previous = 0;
            if (!(line >> name >> read.id >> read.status >> read.at) || name != method)
                continue;
            if (line >> previous) // and not '-'
                read.attempt += previous;
            result.push_back(std::move(read));
        }
        return result;
    }

private:
    std::string program_;
    std::filesystem::path folder_;
    std::string settings_;
    unsigned short port_;
    std::optional<child_process> process_;
};

} // namespace asio_retry::test
