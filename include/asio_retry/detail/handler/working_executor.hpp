#pragma once

#include <asio_retry/detail/handler/asio.hpp>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

#include <concepts>
#include <type_traits>

namespace asio_retry::detail {

/// An executor with work on its context while this lives.
template <typename Executor>
class working_executor {
public:
    explicit working_executor(Executor const& works_on)
        : executor_(works_on)
        , work_(asio::prefer(works_on, asio::execution::outstanding_work.tracked)) {}

    Executor get() const noexcept { return executor_; }

private:
    static_assert(
        std::is_object_v<tracked_executor<Executor>>,
        "asio_retry: io_context::strand and asio::executor are of the Networking TS and cannot be waited "
        "on; use asio::strand and asio::any_io_executor");

    Executor executor_;
    tracked_executor<Executor> work_;
};

template <typename Executor>
concept is_in_its_work = requires(tracked_executor<Executor> const& work) {
    { asio::require(work, asio::execution::outstanding_work.untracked) } -> std::same_as<Executor>;
};

template <is_in_its_work Executor>
class working_executor<Executor> {
public:
    explicit working_executor(Executor const& works_on)
        : work_(asio::prefer(works_on, asio::execution::outstanding_work.tracked)) {}

    Executor get() const noexcept { return asio::require(work_, asio::execution::outstanding_work.untracked); }

private:
    tracked_executor<Executor> work_;
};

} // namespace asio_retry::detail
