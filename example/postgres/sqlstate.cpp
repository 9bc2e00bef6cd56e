#include "sqlstate.hpp"

#include <asio_retry/failure_class.hpp>

#include <boost/system/errc.hpp>

#include <cstddef>

namespace postgres {
namespace {

using boost::system::error_category;
using boost::system::error_code;
using boost::system::error_condition;
namespace errc = boost::system::errc;

constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr int base = 36; // of a number of five such digits

std::string text_of(int value) {
    std::string state(5, '0');
    for (auto digit = state.rbegin(); digit != state.rend(); ++digit, value /= base)
        *digit = digits[static_cast<std::size_t>(value % base)];
    return state;
}

bool is_connection_exception(std::string_view state) {
    return state.starts_with("08");
}

/// The system's error that the library takes for what this state means.
errc::errc_t like(std::string_view state) {
    using asio_retry::effect;
    using asio_retry::failure_kind;
    asio_retry::failure_class const what = asio_retry::classify_sqlstate(state);
    switch (what.kind) {
    case failure_kind::none:
        return errc::success;
    case failure_kind::permanent:
        return errc::invalid_argument;
    case failure_kind::timeout:
        return errc::timed_out;
    case failure_kind::throttled:
    case failure_kind::overloaded:
        return errc::no_buffer_space;
    case failure_kind::transient:
        break;
    }
    if (what.effect == effect::possible)
        return errc::connection_reset;
    // No error of the system says that a transaction was undone: this one leaves open whether it was.
    return state.starts_with("40") ? errc::resource_deadlock_would_occur : errc::connection_refused;
}

class sqlstates final : public error_category {
public:
    using error_category::message;

    char const* name() const noexcept override { return "postgres.sqlstate"; }
    std::string message(int value) const override { return "SQLSTATE " + text_of(value); }
    error_condition default_error_condition(int value) const noexcept override {
        return errc::make_error_condition(like(text_of(value)));
    }
};

class sql_conditions final : public error_category {
public:
    using error_category::equivalent;
    using error_category::message;

    char const* name() const noexcept override { return "postgres.condition"; }

    std::string message(int value) const override {
        return value == static_cast<int>(sql_condition::conflict) ? "conflict" : "unavailable";
    }

    bool equivalent(error_code const& code, int condition) const noexcept override {
        if (code.category() != sqlstate_category())
            return false;
        std::string const state = text_of(code.value());
        switch (static_cast<sql_condition>(condition)) {
        case sql_condition::conflict:
            return state == "40001" || state == "40P01";
        case sql_condition::unavailable:
            return is_connection_exception(state) || state == "57P01" || state == "57P02" || state == "57P03" ||
                   state == "53300";
        }
        return false;
    }
};

} // namespace

error_category const& sqlstate_category() noexcept {
    static sqlstates const category;
    return category;
}

error_code make_sqlstate(std::string_view state) noexcept {
    bool const is_one = state.size() == 5 && state.find_first_not_of(digits) == std::string_view::npos;
    int value = 0;
    for (char const digit : is_one ? state : std::string_view("XX000"))
        value = value * base + static_cast<int>(digits.find(digit));
    return {value, sqlstate_category()};
}

std::string state_of(error_code const& code) {
    return text_of(code.value());
}

error_condition make_error_condition(sql_condition condition) noexcept {
    static sql_conditions const category;
    return {static_cast<int>(condition), category};
}

} // namespace postgres
