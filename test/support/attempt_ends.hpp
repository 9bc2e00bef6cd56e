#pragma once

#include <asio_retry/retry_gate.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace asio_retry::test {

/// What gates are told of attempts, as the machine tells it.
inline attempt_end success(time_point now = {}, duration took = {}) {
    attempt_end end;
    end.now = now;
    end.took = took;
    return end;
}

inline attempt_end success_of_retry(std::uint64_t number, failure_kind after) {
    attempt_end end;
    end.number = number;
    end.after = after;
    return end;
}

inline attempt_end failure(failure_kind kind, time_point now = {}, duration took = {}) {
    attempt_end end;
    end.outcome = attempt_end::how::failed;
    end.kind = kind;
    end.now = now;
    end.took = took;
    return end;
}

/// Let in at `when`.
inline attempt_end abandoned_since(time_point when) {
    attempt_end end;
    end.outcome = attempt_end::how::abandoned;
    end.now = when;
    return end;
}

inline attempt_end abandoned(std::uint64_t number = 1, failure_kind after = failure_kind::none) {
    attempt_end end;
    end.outcome = attempt_end::how::abandoned;
    end.number = number;
    end.after = after;
    return end;
}

/// Whether a gate grants a retry after a transient failure.
inline bool grants_retry(retry_gate& gate, time_point now) {
    return gate.acquire(failure_kind::transient, now);
}

/// The message of std::invalid_argument that names a field, its value and the rule.
inline auto refuses_option(std::string const& field, std::string const& value, std::string const& rule) {
    return testing::ThrowsMessage<std::invalid_argument>("asio_retry: " + field + " = " + value + ": " + rule);
}

} // namespace asio_retry::test
