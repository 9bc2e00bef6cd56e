#include <asio_retry/retry_scheduler.hpp>

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/time/lazy_scheduler.hpp>

#include "time/one_thread.hpp"
#include "time/random_streams.hpp"
#include "time/scheduled_waits.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace asio_retry {

std::atomic<std::size_t> retry_scheduler::seeded_ = 0;

class retry_scheduler::impl {
public:
    explicit impl(boost::asio::execution_context& context)
        : is_made_for_one_thread(detail::is_made_for_one_thread(context))
        , waits(context, is_made_for_one_thread)
        , streams(seeded_) {}

    bool const is_made_for_one_thread;
    detail::scheduled_waits waits;
    detail::random_streams streams;
    detail::random_streams::state streams_before; // the streams before the manual clock, to be restored
    std::atomic<bool> has_virtual_time = false;
};

boost::asio::execution_context::id retry_scheduler::id;

retry_scheduler::retry_scheduler(boost::asio::execution_context& context)
    : boost::asio::execution_context::service(context)
    , impl_(std::make_unique<impl>(context)) {}

namespace {

/// The last lookup of this thread. It is valid until a scheduler is destroyed, because another context may then
/// have the same address.
struct lookup {
    boost::asio::execution_context const* context = nullptr;
    retry_scheduler* found = nullptr;
    std::size_t destroyed = 0;
};

constinit thread_local lookup latest;
std::atomic<std::size_t> destroyed_schedulers = 0;

} // namespace

retry_scheduler::~retry_scheduler() {
    destroyed_schedulers.fetch_add(1, std::memory_order_relaxed);
}

retry_scheduler& retry_scheduler::slack(saturating_duration greatest) {
    impl_->waits.set_slack(detail::non_negative("slack", greatest));
    return *this;
}

duration retry_scheduler::slack() const noexcept {
    return impl_->waits.slack;
}

retry_scheduler& retry_scheduler::seed(std::uint64_t value) noexcept {
    impl_->streams.reseed(value);
    return *this;
}

std::size_t retry_scheduler::pending() const noexcept {
    return impl_->waits.pending();
}

[[gnu::hot]] time_point retry_scheduler::now() const noexcept {
    return impl_->waits.now();
}

[[gnu::hot]] bool retry_scheduler::schedule(detail::wait_node& node, time_point expiry) {
    return impl_->waits.schedule(node, expiry);
}

[[gnu::hot]] bool retry_scheduler::cancel(detail::wait_node& node) noexcept {
    return impl_->waits.cancel(node);
}

bool retry_scheduler::end_early(detail::wait_node& node, boost::asio::io_context& here) noexcept {
    return impl_->waits.end_early(node, here);
}

bool retry_scheduler::end_by(detail::wait_node& node, time_point expiry) noexcept {
    return impl_->waits.end_by(node, expiry);
}

bool retry_scheduler::schedule_early(detail::wait_node& node) {
    return impl_->waits.schedule_early(node);
}

[[gnu::hot]] void retry_scheduler::go_on_in(boost::asio::io_context& own) noexcept {
    impl_->waits.set_context(own);
}

[[gnu::hot]] bool retry_scheduler::has_one_thread() const noexcept {
    return impl_->is_made_for_one_thread || impl_->has_virtual_time;
}

random retry_scheduler::next_random() noexcept {
    return impl_->streams.next();
}

void retry_scheduler::shutdown() {
    impl_->waits.shut_down();
}

void retry_scheduler::notify_fork(boost::asio::execution_context::fork_event event) {
    if (event == boost::asio::execution_context::fork_child)
        impl_->streams.on_fork();
}

void retry_scheduler::stop_clock() {
    impl_->waits.stop_clock();
    impl_->has_virtual_time = true;
    impl_->streams_before = impl_->streams.save();
}

void retry_scheduler::restart_clock() {
    impl_->waits.restart_clock();
    impl_->has_virtual_time = false;
    impl_->streams.restore(impl_->streams_before);
}

bool retry_scheduler::advance_to_next_expiry(time_point limit) {
    auto const next = impl_->waits.next_expiry();
    if (!next || *next > limit)
        return false;
    impl_->waits.advance_clock(*next);
    detail::scheduled_waits::due const first = impl_->waits.end_due(*next);
    if (first == detail::scheduled_waits::due::no_memory)
        throw std::bad_alloc();
    return first == detail::scheduled_waits::due::ended;
}

void retry_scheduler::advance_clock(time_point to) noexcept {
    impl_->waits.advance_clock(to);
}

void retry_scheduler::set_clock(time_point to) noexcept {
    impl_->waits.set_clock(to);
}

[[gnu::hot]] retry_scheduler& scheduler(boost::asio::execution_context& context) {
    std::size_t const destroyed = destroyed_schedulers.load(std::memory_order_relaxed);
    if (latest.context != &context || latest.destroyed != destroyed)
        latest = {&context, &boost::asio::use_service<retry_scheduler>(context), destroyed};
    return *latest.found;
}

namespace detail {

void lazy_scheduler::take_stream() noexcept {
    std::construct_at(&random_, get().next_random());
    found_.store(found() | has_stream, std::memory_order_relaxed); // only the operation writes it
}

} // namespace detail

} // namespace asio_retry
