#include <asio_retry/retry_gate.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace asio_retry {
namespace {

thread_local std::string_view last_refuser = "all_gates";

class gate_chain final : public retry_gate {
public:
    explicit gate_chain(std::vector<std::shared_ptr<retry_gate>> gates) noexcept
        : gates_(std::move(gates)) {}

    bool acquire(failure_kind kind, time_point now) noexcept override {
        for (std::size_t i = 0; i < gates_.size(); ++i)
            if (!gates_[i]->acquire(kind, now)) {
                last_refuser = gates_[i]->name();
                while (i > 0)
                    gates_[--i]->give_back(kind);
                return false;
            }
        return true;
    }

    void give_back(failure_kind kind) noexcept override {
        for (auto const& gate : gates_)
            gate->give_back(kind);
    }

    admission admit(std::uint64_t number, time_point now) noexcept override {
        for (std::size_t i = 0; i < gates_.size(); ++i) {
            admission const answer = gates_[i]->admit(number, now);
            if (answer.until > now) {
                last_refuser = gates_[i]->name();
                attempt_end unbegun;
                unbegun.outcome = attempt_end::how::abandoned;
                unbegun.number = number;
                unbegun.now = now;
                while (i > 0)
                    gates_[--i]->on_end(unbegun);
                return answer;
            }
        }
        return now;
    }

    void on_end(attempt_end const& end) noexcept override {
        for (auto const& gate : gates_)
            gate->on_end(end);
    }

    bool measures_time() const noexcept override {
        return std::ranges::any_of(gates_, [](auto const& gate) { return gate->measures_time(); });
    }

    std::string_view name() const noexcept override { return last_refuser; }

private:
    std::vector<std::shared_ptr<retry_gate>> const gates_;
};

} // namespace

retry_gate::~retry_gate() = default;

bool retry_gate::acquire(failure_kind, time_point) noexcept {
    return true;
}

void retry_gate::give_back(failure_kind) noexcept {}

admission retry_gate::admit(std::uint64_t, time_point now) noexcept {
    return now;
}

void retry_gate::on_end(attempt_end const&) noexcept {}

bool retry_gate::measures_time() const noexcept {
    return false;
}

std::string_view retry_gate::name() const noexcept {
    return "gate";
}

std::shared_ptr<retry_gate> all_gates(std::vector<std::shared_ptr<retry_gate>> gates) {
    std::erase(gates, nullptr);
    if (gates.empty())
        return nullptr;
    if (gates.size() == 1)
        return std::move(gates.front());
    return std::make_shared<gate_chain>(std::move(gates));
}

} // namespace asio_retry
