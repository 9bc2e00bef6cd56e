#include "observe/span.hpp"

#include "observe/exposition.hpp"
#include "policy/utf_8.hpp"

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/error.hpp>

#include <algorithm>
#include <chrono>

namespace asio_retry::detail {
namespace {

/// The text, shortened to whole characters.
std::string shortened(std::string text) {
    if (text.size() <= trace_span::most_bytes)
        return text;
    std::size_t end = trace_span::most_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    text.resize(end);
    return text;
}

/// The error.type of OpenTelemetry, which should have few distinct values.
std::string type_of(observation const& event) {
    if (event.status != 0)
        return std::to_string(event.status);
    if (event.error == error::operation_threw || !event.error)
        return event.exception ? "exception" : "_OTHER";
    return std::string(event.error.category().name()) + ':' + std::to_string(event.error.value());
}

// --- JSON

void append_text(std::string& json, std::string_view text) {
    json += '"';
    while (!text.empty()) {
        std::size_t const length = length_of_first_character(text);
        auto const c = static_cast<unsigned char>(text.front());
        if (length == 0)
            json += "\\ufffd";
        else if (c < 0x20 || c == 0x7f)
            json.append("\\u00").append(1, "0123456789abcdef"[c >> 4]).append(1, "0123456789abcdef"[c & 0xf]);
        else
            json.append(c == '"' || c == '\\' ? "\\" : "").append(text.substr(0, length));
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    json += '"';
}

class attribute_list {
public:
    explicit attribute_list(std::string& json)
        : json_(json) {
        json_ += "\"attributes\":[";
    }

    void add(std::string_view key, std::string_view text) {
        begin(key, "stringValue");
        append_text(json_, text);
        json_ += "}}";
    }
    void add(std::string_view key, std::uint64_t number) {
        begin(key, "intValue");
        json_.append("\"").append(std::to_string(number)).append("\"}}");
    }
    void add(std::string_view key, duration length) {
        begin(key, "doubleValue");
        json_.append(exposition::number(std::chrono::duration<double>(length).count())).append("}}");
    }
    void end() { json_ += ']'; }

private:
    void begin(std::string_view key, std::string_view type) {
        json_.append(is_first_ ? "" : ",").append("{\"key\":\"").append(key).append("\",\"value\":{\"");
        json_.append(type).append("\":");
        is_first_ = false;
    }

    std::string& json_;
    bool is_first_ = true;
};

class span_writer {
public:
    explicit span_writer(std::string& json, std::int64_t epoch)
        : json_(json)
        , epoch_(epoch) {}

    void write(trace_span const& span) {
        json_ += "{\"traceId\":\"";
        append_id(json_, span.ids.trace_high);
        append_id(json_, span.ids.trace_low);
        add_id("\",\"spanId\":\"", span.ids.span);
        if (span.parent != 0)
            add_id("\",\"parentSpanId\":\"", span.parent);
        json_.append("\",\"flags\":").append(span.has_remote_parent ? "769" : "257"); // sampled; is it remote?
        json_ += ",\"name\":";
        append_text(json_, name_of(span));
        json_.append(",\"kind\":").append(span.attempt == 0 ? "1" : "3"); // internal, client
        add_time(",\"startTimeUnixNano\":\"", span.start);
        add_time("\",\"endTimeUnixNano\":\"", span.end);
        json_ += "\",";
        write_attributes(span);
        write_events(span);
        if (span.has_failed) {
            json_ += ",\"status\":{\"code\":2,\"message\":";
            append_text(json_, span.message);
            json_ += '}';
        }
        json_ += '}';
    }

private:
    static std::string name_of(trace_span const& span) {
        std::string name = span.attempt == 0 ? span.is_hedge ? "hedge" : "retry" : "attempt";
        return name.append(span.policy.empty() ? "" : " ").append(span.policy);
    }

    void add_id(std::string_view before, std::uint64_t id) {
        json_ += before;
        append_id(json_, id);
    }

    void add_time(std::string_view before, time_point at) {
        auto const since = at.time_since_epoch().count();
        // Unsigned: the sum wraps round if it does not fit.
        auto const nanoseconds = static_cast<std::uint64_t>(epoch_) + static_cast<std::uint64_t>(since);
        json_.append(before).append(std::to_string(nanoseconds));
    }

    void write_attributes(trace_span const& span) {
        attribute_list list(json_);
        list.add("asio_retry.operation", span.operation);
        if (!span.policy.empty())
            list.add("asio_retry.policy", span.policy);
        if (span.attempt == 0) {
            list.add("asio_retry.attempts", span.attempts);
            list.add("asio_retry.reason", to_string(span.reason));
        } else {
            list.add("asio_retry.attempt", span.attempt);
            if (span.attempt > 1)
                list.add("http.request.resend_count", span.attempt - 1);
            if (span.stopped != interruption::none)
                list.add("asio_retry.stopped", to_string(span.stopped));
        }
        if (span.status != 0)
            list.add("http.response.status_code", static_cast<std::uint64_t>(span.status));
        if (!span.error_type.empty())
            list.add("error.type", span.error_type);
        list.end();
    }

    void write_events(trace_span const& span) {
        json_ += ",\"events\":[";
        bool is_first = true;
        for (span_event const& each : span.events) {
            json_ += is_first ? "" : ",";
            is_first = false;
            write_event(each);
        }
        if (span.is_exception && span.attempt != 0)
            write_exception(span, is_first ? "" : ",");
        json_ += ']';
        if (span.dropped_events != 0)
            json_.append(",\"droppedEventsCount\":").append(std::to_string(span.dropped_events));
    }

    void write_event(span_event const& event) {
        add_time("{\"timeUnixNano\":\"", event.at);
        json_ += "\",\"name\":\"";
        bool const is_held = event.what == observation::kind::held;
        bool const is_wait = event.what == observation::kind::retry_decided;
        bool const is_refusal = event.what == observation::kind::refused;
        json_ += is_wait ? "wait" : is_refusal ? "refused" : is_held ? "held" : "hedge";
        json_ += "\",";
        attribute_list list(json_);
        list.add("asio_retry.attempt", event.attempt);
        if (is_wait || is_held)
            list.add("asio_retry.delay", event.delay);
        if (is_refusal || is_held)
            list.add("asio_retry.gate", event.gate);
        if (!event.message.empty())
            list.add("asio_retry.message", event.message);
        list.end();
        json_ += '}';
    }

    void write_exception(trace_span const& span, std::string_view before) {
        json_ += before;
        add_time("{\"timeUnixNano\":\"", span.end);
        json_ += "\",\"name\":\"exception\",";
        attribute_list list(json_);
        list.add("exception.message", span.message);
        list.end();
        json_ += '}';
    }

    std::string& json_;
    std::int64_t const epoch_;
};

} // namespace

void trace_span::add(observation const& event) {
    if (events.size() >= most_events) {
        ++dropped_events;
        return;
    }
    span_event added{event.what, event.now, event.attempt, event.delay, {}, event.gate};
    if (event.what != observation::kind::attempt_began)
        added.message = shortened(event.message());
    events.push_back(std::move(added));
}

void trace_span::close(observation const& event) {
    end = event.now;
    reason = event.reason;
    stopped = event.stopped;
    status = event.status;
    if (attempt == 0)
        attempts = event.attempt;
    bool const is_unwanted = event.is_abandoned || stopped == interruption::beaten ||
                             stopped == interruption::cancellation || reason == stop_reason::cancelled;
    has_failed = event.failure != failure_kind::none || (attempt == 0 && reason != stop_reason::succeeded);
    has_failed = has_failed && !is_unwanted;
    if (!has_failed)
        return;
    error_type = shortened(type_of(event));
    message = shortened(event.message());
    is_exception = event.exception != nullptr;
}

std::string otlp_text(std::string_view service, std::list<trace_span> const& spans, std::int64_t epoch) {
    if (spans.empty())
        return R"({"resourceSpans":[]})";
    std::string json = R"({"resourceSpans":[{"resource":{)";
    attribute_list resource(json);
    resource.add("service.name", service);
    resource.end();
    json += R"(},"scopeSpans":[{"scope":{"name":"asio_retry"},"spans":[)";
    span_writer writer(json, epoch);
    for (trace_span const& each : spans) {
        if (&each != &spans.front())
            json += ',';
        writer.write(each);
    }
    return json += "]}]}]}";
}

} // namespace asio_retry::detail
