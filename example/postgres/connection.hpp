#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace postgres {

/// What a statement yields.
struct answer {
    std::vector<std::vector<std::string>> rows; ///< as text; NULL is empty
    std::uint64_t affected = 0;                 ///< rows that it has read or written
};

/// A connection of libpq, which waits for its socket on Asio. Not for two statements at once; all of it runs
/// where `executor` says, which is one thread or a strand.
///
/// Failures are thrown as boost::system::system_error, with a code that is an SQLSTATE: that of the server, or
/// one of class 08 where there was no answer. A wait that was cancelled throws operation_aborted, and leaves
/// the connection unusable.
class connection {
public:
    explicit connection(boost::asio::any_io_executor executor)
        : executor_(std::move(executor)) {}

    /// `where` as for PQconnectdb. What was open is closed before.
    boost::asio::awaitable<void> open(std::string where);
    void close() noexcept;

    /// Whether a statement may be sent.
    bool is_usable() const noexcept;
    bool is_in_transaction() const noexcept;

    boost::asio::awaitable<answer> query(std::string sql, std::vector<std::string> parameters = {});

private:
    boost::asio::posix::stream_descriptor duplicate_socket() const;
    boost::asio::awaitable<void> wait_for_answer();
    [[noreturn]] void fail(char const* state) const;

    boost::asio::any_io_executor executor_;
    std::unique_ptr<PGconn, void (*)(PGconn*)> handle_{nullptr, PQfinish};
    std::optional<boost::asio::posix::stream_descriptor> socket_;
};

} // namespace postgres
