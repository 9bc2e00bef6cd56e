#pragma once

#include <asio_retry/random.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <cassert>
#include <memory>

namespace asio_retry::detail {

/// The scheduler of an operation and its stream of random numbers: looked up when first needed, which is after
/// the first failure, unless there is a time limit.
class lazy_scheduler {
public:
    lazy_scheduler() noexcept {}
    lazy_scheduler(lazy_scheduler const&) = delete;
    lazy_scheduler& operator=(lazy_scheduler const&) = delete;

    bool is_found() const noexcept { return scheduler_ != nullptr; }

    /// `known` may be an io_context that is the same. Precondition: !is_found().
    void find_in(boost::asio::execution_context& context, boost::asio::io_context* known) {
        assert(!is_found());
        retry_scheduler& found = scheduler(context);
        if (known == &context)
            found.go_on_in(*known);
        std::construct_at(&random_, found.next_random());
        scheduler_ = &found;
    }

    /// @name Precondition: is_found()
    /// @{
    retry_scheduler& get() const noexcept {
        assert(is_found());
        return *scheduler_;
    }
    random& get_random() noexcept {
        assert(is_found());
        return random_;
    }
    /// @}

private:
    retry_scheduler* scheduler_ = nullptr;
    union {
        random random_; // there if the scheduler is
    };
};

} // namespace asio_retry::detail
