#pragma once

#include <asio_retry/permanent.hpp>
#include <asio_retry/retry_gate.hpp>

#include <string>

#define PLUGIN_DECL __attribute__((visibility("default")))

namespace plugin {

class PLUGIN_DECL no_such_user : public asio_retry::permanent_error {
public:
    explicit no_such_user(std::string const& name);
};

class PLUGIN_DECL closed_gate : public asio_retry::retry_gate {
public:
    bool acquire(asio_retry::failure_kind, asio_retry::time_point) noexcept override;
    void give_back(asio_retry::failure_kind) noexcept override;
};

PLUGIN_DECL void throw_permanent();
PLUGIN_DECL void throw_permanent_nested();
PLUGIN_DECL void throw_no_such_user();
PLUGIN_DECL void throw_policy_syntax_error();
PLUGIN_DECL void throw_system_error();
PLUGIN_DECL void parse_nonsense();
PLUGIN_DECL asio_retry::error_code permanent_code();
PLUGIN_DECL asio_retry::error_code exhausted();

} // namespace plugin
