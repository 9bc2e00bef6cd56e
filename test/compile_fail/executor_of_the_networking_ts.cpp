// expected: asio_retry: io_context::strand and asio::executor are of the Networking TS and cannot be waited on;
// use asio::strand and asio::any_io_executor
#include <asio_retry/async_retry.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

boost::system::error_code fetch();

// As io_context::strand is, which is not in every Boost.
struct old_strand {
    boost::asio::execution_context& context() const noexcept;
    void on_work_started() const noexcept;
    void on_work_finished() const noexcept;
    template <typename Function, typename Allocator>
    void dispatch(Function&&, Allocator const&) const;
    template <typename Function, typename Allocator>
    void post(Function&&, Allocator const&) const;
    template <typename Function, typename Allocator>
    void defer(Function&&, Allocator const&) const;
    friend bool operator==(old_strand const&, old_strand const&) noexcept;
    friend bool operator!=(old_strand const&, old_strand const&) noexcept;
};

void start(boost::asio::io_context& io) {
#ifdef FAULT_REMOVED
    auto const strand = boost::asio::make_strand(io);
#else
    old_strand const strand;
#endif
    asio_retry::async_retry(io, fetch, asio_retry::retry_policy(),
                            boost::asio::bind_executor(strand, [](boost::system::error_code) {}));
}
