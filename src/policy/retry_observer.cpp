#include <asio_retry/retry_observer.hpp>

#include "policy/spoken_duration.hpp"

#include <algorithm>
#include <utility>

namespace asio_retry {
namespace {

class observer_list final : public retry_observer {
public:
    explicit observer_list(std::vector<std::shared_ptr<retry_observer>> observers) noexcept
        : observers_(std::move(observers)) {}

    bool wants(std::uint64_t operation) noexcept override {
        return std::ranges::any_of(observers_, [&](auto const& each) { return each->wants(operation); });
    }

    void on_event(observation const& event) noexcept override {
        for (auto const& each : observers_)
            if (each->wants(event.operation))
                each->on_event(event);
    }

private:
    std::vector<std::shared_ptr<retry_observer>> const observers_;
};

std::string refusal_message(observation const& event) {
    std::string text(event.gate.empty() ? "a gate" : event.gate);
    if (!event.error)
        return text + " refused the retry";
    return text + " refused the attempt: " + event.error.message();
}

} // namespace

std::string observation::message() const {
    if (what == kind::refused)
        return refusal_message(*this);
    if (what == kind::held)
        return delay == duration::zero()
                   ? "in the queue of " + std::string(gate)
                   : std::string(gate) + " lets the attempt begin in " + detail::spoken(delay);
    retry_event same;
    same.error =
        error == asio_retry::error::exhausted ? make_error_code(asio_retry::error::result_rejected) : error;
    same.exception = exception;
    same.took = took;
    if (what == kind::ended) // otherwise `took` is not the operation's
        same.elapsed = took;
    same.stopped = stopped;
    same.said = said;
    same.status = status;
    same.limit = limit;
    same.allowed = allowed;
    return same.message();
}

retry_observer::~retry_observer() = default;

bool retry_observer::wants(std::uint64_t) noexcept {
    return true;
}

std::shared_ptr<retry_observer> all_observers(std::vector<std::shared_ptr<retry_observer>> observers) {
    std::erase(observers, nullptr);
    if (observers.empty())
        return nullptr;
    if (observers.size() == 1)
        return std::move(observers.front());
    return std::make_shared<observer_list>(std::move(observers));
}

} // namespace asio_retry
