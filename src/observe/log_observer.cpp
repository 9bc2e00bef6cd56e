#include <asio_retry/observe/log_observer.hpp>

#include "policy/enumerator_name.hpp"
#include "policy/spoken_duration.hpp"
#include "policy/utf_8.hpp"

#include <cstddef>
#include <optional>
#include <ostream>
#include <utility>

namespace asio_retry {
namespace {

/// The number of bytes of the first character; 1 if it is not UTF-8.
std::size_t length_of_character(std::string_view text) noexcept {
    auto const first = static_cast<unsigned char>(text.front());
    std::size_t const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return length <= text.size() && detail::is_utf_8(text.substr(0, length)) ? length : 1;
}

std::string hexadecimal(unsigned char byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    return {digits[byte >> 4], digits[byte & 15]};
}

/// Whether a terminal or a viewer of logs may obey the character rather than show it. These are the controls of
/// ASCII, U+0080 to U+009F, and the separators of lines and paragraphs.
bool is_control(std::string_view character) noexcept {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1)
        return byte(0) < 0x20 || byte(0) >= 0x7f;
    if (character.size() == 2)
        return byte(0) == 0xc2 && byte(1) < 0xa0;
    return character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9";
}

/// One line of UTF-8. A backslash stays as it is.
std::string as_one_line(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        std::string_view const first = text.substr(0, length_of_character(text));
        text.remove_prefix(first.size());
        if (!is_control(first)) {
            result += first;
        } else if (first == "\n") {
            result += "\\n";
        } else if (first == "\r") {
            result += "\\r";
        } else if (first == "\t") {
            result += "\\t";
        } else {
            for (char const byte : first)
                result.append("\\x").append(hexadecimal(static_cast<unsigned char>(byte)));
        }
    }
    return result;
}

/// The kind of the line for an event. None if there is no line.
std::optional<log_line::kind> kind_of(observation const& event) noexcept {
    using enum log_line::kind;
    switch (event.what) {
    case observation::kind::retry_decided:
        return retry;
    case observation::kind::refused:
        return refused;
    case observation::kind::held:
        return held;
    case observation::kind::attempt_began:
        if (event.is_hedge && event.attempt > 1)
            return hedge;
        break;
    case observation::kind::ended:
        if (event.reason != stop_reason::succeeded)
            return gave_up;
        if (event.attempt > 1)
            return succeeded;
        break;
    case observation::kind::started:
    case observation::kind::attempt_ended:
        break;
    }
    return std::nullopt;
}

log_level level_of(log_line::kind what, observation const& event) noexcept {
    switch (what) {
    case log_line::kind::retry:
        return log_level::warning;
    case log_line::kind::hedge: // after a failure it is a retry
        return event.error ? log_level::warning : log_level::debug;
    case log_line::kind::refused:
    case log_line::kind::held:
    case log_line::kind::succeeded:
        return log_level::debug;
    case log_line::kind::gave_up:
        break;
    }
    return event.reason == stop_reason::cancelled ? log_level::info : log_level::error;
}

log_line line_of(log_line::kind what, log_level level, observation const& event) {
    log_line line;
    line.what = what;
    line.level = level;
    line.operation = event.operation;
    line.attempt = event.attempt;
    line.error = event.error;
    bool const is_slow = what == log_line::kind::hedge && !event.error;
    line.message = is_slow ? "no result yet" : as_one_line(event.message());
    if (what == log_line::kind::retry || what == log_line::kind::held)
        line.delay = event.delay;
    line.took = event.took;
    line.reason = event.reason;
    line.gate = event.gate;
    line.is_hedge = event.is_hedge;
    line.policy = event.policy;
    return line;
}

class line_writer final : public retry_observer {
public:
    line_writer(detail::shared_function<void(log_line const&)> sink, log_level least) noexcept
        : sink_(std::move(sink))
        , least_(least) {}

    void on_event(observation const& event) noexcept override {
        auto const what = kind_of(event);
        if (!what)
            return;
        log_level const level = level_of(*what, event);
        if (level < least_)
            return;
        try {
            sink_(line_of(*what, level, event));
        } catch (...) { // an exception of the sink must not end the operation
        }
    }

private:
    detail::shared_function<void(log_line const&)> const sink_;
    log_level const least_;
};

// --- as text

/// The subject of the line.
std::string subject_of(log_line const& line) {
    std::string text = as_one_line(line.policy);
    text.append(text.empty() ? "operation " : ", operation ").append(std::to_string(line.operation)) += ", ";
    bool const is_over = line.what == log_line::kind::succeeded || line.what == log_line::kind::gave_up;
    if (line.attempt == 0)
        return text + "no attempt";
    if (is_over && line.is_hedge) // the attempts of a hedge end in any order, so their count says more
        return text + std::to_string(line.attempt) + (line.attempt == 1 ? " attempt" : " attempts");
    return text + "attempt " + std::to_string(line.attempt);
}

std::string after_time(duration passed) {
    return passed > duration::zero() ? " after " + detail::spoken(passed) : std::string();
}

/// Why the operation gave up.
std::string reason_of(log_line const& line) {
    std::string text(to_string(line.reason));
    if (line.gate.empty())
        return text;
    return text.append(" (")
        .append(as_one_line(line.gate))
        .append(line.reason == stop_reason::budget ? " refused the retry)" : " refused the attempt)");
}

} // namespace

std::string_view to_string(log_level level) noexcept {
    static constexpr std::string_view names[] = {"debug", "info", "warning", "error"};
    return detail::enumerator_name<log_level::error>(names, level, "unknown log_level");
}

std::ostream& operator<<(std::ostream& out, log_level level) {
    return out << to_string(level);
}

std::string_view to_string(log_line::kind what) noexcept {
    static constexpr std::string_view names[] = {"retry", "hedge", "refused", "held", "succeeded", "gave_up"};
    return detail::enumerator_name<log_line::kind::gave_up>(names, what, "unknown log_line::kind");
}

std::ostream& operator<<(std::ostream& out, log_line::kind what) {
    return out << to_string(what);
}

std::string to_string(log_line const& line) {
    std::string const subject = subject_of(line);
    switch (line.what) {
    case log_line::kind::retry:
        return subject + ": " + line.message +
               (line.delay > duration::zero() ? "; retry in " + detail::spoken(line.delay) : "; retry now");
    case log_line::kind::hedge:
        return subject + " began" + after_time(line.took) + ": " + line.message;
    case log_line::kind::succeeded:
        return subject + ": succeeded" + after_time(line.took);
    case log_line::kind::gave_up:
        return subject + ": " + line.message + "; gave up" + after_time(line.took) + ": " + reason_of(line);
    case log_line::kind::refused:
    case log_line::kind::held:
        break;
    }
    return subject + ": " + line.message;
}

std::ostream& operator<<(std::ostream& out, log_line const& line) {
    return out << to_string(line);
}

namespace detail {

std::shared_ptr<retry_observer> make_log_observer(shared_function<void(log_line const&)> sink,
                                                  log_level least) {
    return std::make_shared<line_writer>(std::move(sink), least);
}

} // namespace detail
} // namespace asio_retry
