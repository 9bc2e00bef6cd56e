#include <asio_retry/retry_event.hpp>

#include "policy/enumerator_name.hpp"
#include "policy/spoken_duration.hpp"
#include "policy/thrown_as.hpp"

#include <exception>
#include <ostream>
#include <string>

namespace asio_retry {
namespace {

using detail::spoken;

std::string after(char const* what, duration passed) {
    return passed > duration::zero() ? std::string(what) + " after " + spoken(passed) : what;
}

/// The message of an attempt that a limit stopped; otherwise empty.
std::string limit_message(retry_event const& event) {
    switch (event.limit) {
    case time_limit::attempt_timeout:
        return after("attempt timed out", event.allowed);
    case time_limit::setup_timeout:
        return "attempt was not set up within " + spoken(event.allowed);
    case time_limit::idle_timeout:
        return "attempt was silent for " + spoken(event.allowed);
    case time_limit::total_timeout:
        return after("operation timed out", event.allowed);
    case time_limit::deadline:
        return after("deadline reached", event.elapsed);
    case time_limit::inherited:
        return after("inherited deadline reached", event.elapsed);
    case time_limit::none:
        break;
    }
    if (event.stopped == interruption::attempt_timeout)
        return after("attempt timed out", event.took);
    return event.stopped == interruption::deadline ? after("operation timed out", event.elapsed)
                                                   : std::string();
}

/// The text of the exception, without the number of the code and the place in Asio that Boost adds to it.
std::string thrown_message(std::exception const& thrown, error_code const& code) {
    std::string text = thrown.what();
    std::string const own = code.message();
    if (auto const at = text.find(own + " ["); at != std::string::npos && text.ends_with(']'))
        text.resize(at + own.size());
    return text;
}

/// The message of a judged value.
std::string judged_message(retry_event const& event) {
    std::string text = event.status ? "HTTP " + std::to_string(event.status) : event.error.message();
    if (event.said.forbids())
        return text + ", no retry wanted";
    return event.said ? text + ", retry after " + spoken(event.said.delay()) : text;
}

} // namespace

std::string_view to_string(time_limit limit) noexcept {
    static constexpr std::string_view names[] = {
        "none", "attempt_timeout", "setup_timeout", "idle_timeout", "total_timeout", "deadline", "inherited"};
    return detail::enumerator_name<time_limit::inherited>(names, limit, "unknown time_limit");
}

std::ostream& operator<<(std::ostream& out, time_limit limit) {
    return out << to_string(limit);
}

std::string retry_event::message() const {
    if (std::string text = limit_message(*this); !text.empty())
        return text;
    if (exception)
        if (auto const* const thrown = detail::thrown_as<std::exception>(exception))
            return thrown_message(*thrown, error);
    if (error == asio_retry::error::result_rejected)
        return judged_message(*this);
    return error ? error.message() : "succeeded";
}

std::string to_string(retry_event const& event) {
    std::string text(event.policy);
    text += text.empty() ? "" : ", ";
    text += event.attempt ? "attempt " + std::to_string(event.attempt) : std::string("no attempt");
    text += ": " + event.message();
    if (event.reason != stop_reason::succeeded)
        return text.append("; gave up: ").append(to_string(event.reason));
    if (!event.error && !event.exception)
        return text;
    return text +
           (event.delay > duration::zero() ? "; next attempt in " + spoken(event.delay) : "; next attempt now");
}

std::ostream& operator<<(std::ostream& out, retry_event const& event) {
    return out << to_string(event);
}

} // namespace asio_retry
