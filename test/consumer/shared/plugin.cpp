#include "plugin.hpp"

#include <asio_retry/policy_text.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <stdexcept>

namespace plugin {

no_such_user::no_such_user(std::string const& name)
    : permanent_error(std::make_exception_ptr(std::out_of_range(name))) {}

bool closed_gate::acquire(asio_retry::failure_kind, asio_retry::time_point) noexcept {
    return false;
}
void closed_gate::give_back(asio_retry::failure_kind) noexcept {}

void throw_permanent() {
    throw asio_retry::permanent(std::out_of_range("no such user"));
}

void throw_permanent_nested() {
    try {
        throw_permanent();
    } catch (...) {
        std::throw_with_nested(std::runtime_error("while looking for a user"));
    }
}

void throw_no_such_user() {
    throw no_such_user("nobody");
}

void throw_policy_syntax_error() {
    throw asio_retry::policy_syntax_error(7, "of the plugin's own");
}

void throw_system_error() {
    throw boost::system::system_error(exhausted());
}

void parse_nonsense() {
    (void)asio_retry::parse_policy("nonsense");
}

asio_retry::error_code permanent_code() {
    return asio_retry::permanent(asio_retry::error_code(boost::asio::error::timed_out));
}

asio_retry::error_code exhausted() {
    return asio_retry::error::exhausted;
}

} // namespace plugin
