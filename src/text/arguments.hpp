#pragma once

#include "text/term.hpp"

#include <asio_retry/duration.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::detail {

enum class parameter_kind {
    a_duration,
    a_number,
    a_whole_number,
    a_flag,
    a_backoff,
    a_limit,
    a_failure_kind,
    a_priority,
    a_text
};

struct parameter {
    std::string_view name; ///< empty: none
    parameter_kind kind = parameter_kind::a_duration;
    bool is_optional = false;
};

/// The arguments of a term, found by parameter name. Keeps references to both.
class ASIO_RETRY_DECL bound_arguments {
public:
    /// Binds the arguments of a C++ function: its `own` parameters in order, then those and the `common` ones
    /// by name. A list takes any number of durations, or of values of its first `own` parameter, and then named
    /// arguments. Throws policy_syntax_error if an argument is of another kind, unknown, given twice, surplus
    /// or missing.
    bound_arguments(term const& from, std::span<parameter const> own, std::span<parameter const> common,
                    bool is_list);

    bool has(std::string_view name) const { return find(name) != nullptr; }

    // Precondition: has(name), and its parameter is of this kind.
    duration time(std::string_view name) const { return std::get<duration>(find(name)->value); }
    double number(std::string_view name) const;
    std::int64_t whole(std::string_view name) const;
    bool flag(std::string_view name) const { return std::get<bool>(find(name)->value); }
    term const& inner(std::string_view name) const { return std::get<term>(find(name)->value); }
    request_priority priority(std::string_view name) const {
        return std::get<request_priority>(find(name)->value);
    }
    std::string const& text(std::string_view name) const { return *find(name)->text; }
    failure_kind kind(std::string_view name) const { return std::get<failure_kind>(find(name)->value); }

    std::vector<duration> const& list() const { return list_; }
    std::vector<failure_kind> const& kinds() const { return kinds_; }

private:
    struct binding {
        std::string_view name;
        argument const* value;
    };

    void bind_in_list(argument const& a, std::span<parameter const> own);
    void bind_next(argument const& a, std::span<parameter const> own);
    void bind_named(argument const& a, std::span<parameter const> own, std::span<parameter const> common);
    argument const& checked(parameter const& p, argument const& a) const;
    std::string description(parameter const& p) const;
    argument const* find(std::string_view name) const;

    term const& term_;
    std::vector<binding> in_order_, named_;
    std::vector<duration> list_;
    std::vector<failure_kind> kinds_;
};

} // namespace asio_retry::detail
