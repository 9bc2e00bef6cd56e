#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/retry_report.hpp>

#include <exception>
#include <string_view>

namespace asio_retry::detail {

/// Fills in a retry_report. The report must outlive the recorder.
class ASIO_RETRY_DECL report_recorder final : public machine_observer {
public:
    explicit report_recorder(retry_report& given_report) noexcept
        : report_(&given_report) {}

    /// Removes the report of an earlier operation.
    void clear() noexcept;

    /// Notes the name of the policy, and allocates everything that the report may need later. Throws
    /// std::bad_alloc.
    void make_room(std::string_view policy = {});

private:
    void on_start(time_point now) noexcept override;
    void on_attempt(std::uint64_t number, time_point now) noexcept override;
    void on_failure(verdict const& failure, interruption stopped, time_point now) noexcept override;
    void on_wait(duration delay, time_point now) noexcept override;
    void on_wait_over(time_point now) noexcept override;
    void on_end(stop_reason reason, time_point now) noexcept override;
    void on_hook_exception(std::exception_ptr const& thrown) noexcept override;

    void see(time_point now) noexcept;

    retry_report* report_;
    time_point started_{};
    time_point waiting_since_{};
};

} // namespace asio_retry::detail
