#pragma once

#include <asio_retry/virtual_time.hpp>

#include "support/tracking_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

/// The kinds of executor on which tokens and forms of operation are tried. Each makes any number of executors
/// on one context that differ only in their number, and knows how to run the context dry.
namespace asio_retry::test {

class on_io_context {
public:
    static std::string name() { return "io_context"; }

    auto executor(int number) { return tracking_executor(io_.get_executor(), number); }
    asio::any_io_executor background() { return io_.get_executor(); }

    /// Ends when nothing more can happen, however that came about; then the context has neither work nor waits.
    void run_dry(std::weak_ptr<void> const& busy) {
        time_.run();
        io_.restart();
        EXPECT_EQ(io_.poll(), 0u);
        EXPECT_TRUE(io_.stopped()) << "somebody still holds work";
        EXPECT_EQ(scheduler(io_).pending(), 0u);
        EXPECT_TRUE(busy.expired()) << "somebody still holds the operation or its handler";
    }

    /// Whether what runs on one of its executors never meets on two threads.
    bool is_serial() const { return true; }

    /// How long everything took; `expected` where the clock is not ours.
    duration elapsed(duration) const { return time_.now() - begin_; }

protected:
    asio::io_context io_;

private:
    virtual_time time_{io_};
    time_point const begin_ = time_.now();
};

class on_strand : public on_io_context {
public:
    static std::string name() { return "strand"; }
    auto executor(int number) { return asio::make_strand(tracking_executor(io_.get_executor(), number)); }
};

/// Its threads run while operations are initiated.
class on_thread_pool {
public:
    static std::string name() { return "thread_pool"; }

    auto executor(int number) { return tracking_executor(pool_.get_executor(), number); }
    asio::any_io_executor background() { return pool_.get_executor(); }

    void run_dry(std::weak_ptr<void> const& busy) {
        pool_.join(); // returns when there is no work
        EXPECT_EQ(scheduler(pool_).pending(), 0u);
        EXPECT_TRUE(busy.expired());
    }

    bool is_serial() const { return false; }
    duration elapsed(duration expected) const { return expected; }

private:
    asio::thread_pool pool_{2};
};

/// A context that never runs dry, so what has been run in it tells when it has gone.
class on_system_context {
public:
    static std::string name() { return "system_context"; }

    auto executor(int number) { return tracking_executor(asio::system_executor(), number); }
    asio::any_io_executor background() { return asio::system_executor(); }

    void run_dry(std::weak_ptr<void> const& busy) {
        // Now and then a function more: in glibc before 2.41 a condition variable may lose a wake-up (its bug
        // 25847), and a queued function of the context then waits for the next one.
        for (unsigned look = 1; !busy.expired(); ++look) {
            if (look % 10'000 == 0)
                asio::post(asio::system_executor(), [] {});
            std::this_thread::yield();
        }
        EXPECT_EQ(scheduler(asio::query(asio::system_executor(), asio::execution::context)).pending(), 0u);
    }

    bool is_serial() const { return false; }
    duration elapsed(duration expected) const { return expected; }
};

/// All of them behind one type of executor, which spares the compiler most of the product of forms, tokens and
/// executors.
class on_any_io_executor {
public:
    static std::string name() { return "any_io_executor"; }
    using maker = std::unique_ptr<on_any_io_executor>();

    template <typename Kind>
    static std::unique_ptr<on_any_io_executor> of() {
        return std::make_unique<erased<Kind>>();
    }

    virtual ~on_any_io_executor() = default;
    virtual std::string inner_name() const = 0;
    virtual asio::any_io_executor executor(int number) = 0;
    virtual asio::any_io_executor background() = 0;
    virtual void run_dry(std::weak_ptr<void> const& busy) = 0;
    virtual bool is_serial() const = 0;
    virtual duration elapsed(duration expected) const = 0;

private:
    template <typename Kind>
    class erased;
};

template <typename Kind>
class on_any_io_executor::erased final : public on_any_io_executor {
public:
    std::string inner_name() const override { return Kind::name(); }
    asio::any_io_executor executor(int number) override { return kind_.executor(number); }
    asio::any_io_executor background() override { return kind_.background(); }
    void run_dry(std::weak_ptr<void> const& busy) override { kind_.run_dry(busy); }
    bool is_serial() const override { return kind_.is_serial(); }
    duration elapsed(duration expected) const override { return kind_.elapsed(expected); }

private:
    Kind kind_;
};

/// Calls `body` with a context of the kind, or, for any_io_executor, with one of each kind.
template <typename Kind, typename Body>
void with_contexts_of(Body body) {
    if constexpr (std::is_same_v<Kind, on_any_io_executor>) {
        for (on_any_io_executor::maker* const make :
             {&on_any_io_executor::of<on_io_context>, &on_any_io_executor::of<on_strand>,
              &on_any_io_executor::of<on_thread_pool>, &on_any_io_executor::of<on_system_context>}) {
            auto const kind = make();
            SCOPED_TRACE(kind->inner_name());
            body(*kind);
        }
    } else {
        Kind kind;
        body(kind);
    }
}

} // namespace asio_retry::test
