// A plan of faults is switched off on one thread while another destroys the context of attempts that hang.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/inject.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;

/// A handler that counts where it ends.
class counted_handler {
public:
    struct counts {
        std::atomic<int> called = 0, destroyed = 0;
    };

    explicit counted_handler(counts& in)
        : in_(&in) {}
    counted_handler(counted_handler&& other) noexcept
        : in_(std::exchange(other.in_, nullptr)) {}
    counted_handler& operator=(counted_handler&&) = delete;
    ~counted_handler() {
        std::this_thread::yield(); // the operation around it is being destroyed
        if (in_)
            ++in_->destroyed;
    }
    void operator()(error_code) {
        ++in_->called;
        in_ = nullptr;
    }

private:
    counts* in_;
};

TEST(faults_of_two_threads, decision_71_end_while_their_context_is_destroyed) {
    constexpr int rounds = 20, operations = 50;
    auto const plan = std::make_shared<fault_plan>(fault_options{.hangs = 1});
    for (int round = 0; round != rounds; ++round) {
        counted_handler::counts counts;
        std::optional<asio::io_context> io(std::in_place);
        plan->enable();
        for (int i = 0; i != operations; ++i)
            async_retry(*io, inject([] { return error_code(); }, plan), retry_policy().max_attempts(1),
                        counted_handler(counts));
        io->poll();
        std::atomic<bool> is_over = false;
        std::thread other([&] {
            while (!is_over) {
                plan->disable();
                std::this_thread::yield();
            }
        });
        io.reset();
        is_over = true;
        other.join();
        EXPECT_EQ(counts.called, 0);
        EXPECT_EQ(counts.destroyed, operations);
    }
    EXPECT_EQ(plan.use_count(), 1);
}

} // namespace
} // namespace asio_retry::test
