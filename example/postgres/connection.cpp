#include "connection.hpp"

#include "sqlstate.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>

#include <fcntl.h>

namespace postgres {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;
using boost::system::error_code;
using boost::system::system_error;

namespace {

using result = std::unique_ptr<PGresult, void (*)(PGresult*)>;

/// libpq gives the SQLSTATE of a refused connection in its message alone, at the end: "FATAL:  57P03".
std::string state_in(std::string_view message) {
    message = message.substr(0, message.find_last_not_of('\n') + 1);
    if (message.size() < 8 || message.substr(message.size() - 8, 3) != ":  ")
        return "08001"; // nobody there who could have refused it
    return std::string(message.substr(message.size() - 5));
}

answer read(PGresult const& from) {
    answer read;
    for (int row = 0; row != PQntuples(&from); ++row) {
        std::vector<std::string>& values = read.rows.emplace_back();
        for (int column = 0; column != PQnfields(&from); ++column)
            values.emplace_back(PQgetvalue(&from, row, column));
    }
    read.affected = std::strtoull(PQcmdTuples(const_cast<PGresult*>(&from)), nullptr, 10);
    return read;
}

/// By default libpq writes on standard error what is no error.
void ignore(void*, PGresult const*) {}

bool is_success(PGresult const& of) {
    auto const status = PQresultStatus(&of);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

} // namespace

asio::awaitable<void> connection::open(std::string where) {
    close();
    handle_.reset(PQconnectStart(where.c_str()));
    if (!handle_)
        throw std::bad_alloc();
    PQsetNoticeReceiver(handle_.get(), ignore, nullptr);
    PQsetErrorVerbosity(handle_.get(), PQERRORS_SQLSTATE);
    auto next = PQstatus(handle_.get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING) {
        stream_descriptor socket = duplicate_socket(); // it may be another one each time
        co_await socket.async_wait(next == PGRES_POLLING_READING ? stream_descriptor::wait_read
                                                                 : stream_descriptor::wait_write,
                                   asio::use_awaitable);
        next = PQconnectPoll(handle_.get());
    }
    if (next != PGRES_POLLING_OK)
        fail(state_in(PQerrorMessage(handle_.get())).c_str());
    PQsetErrorVerbosity(handle_.get(), PQERRORS_DEFAULT);
    PQsetnonblocking(handle_.get(), 1);
    socket_.emplace(duplicate_socket());
}

void connection::close() noexcept {
    socket_.reset();
    handle_.reset();
}

bool connection::is_usable() const noexcept {
    auto const status = PQtransactionStatus(handle_.get());
    return status != PQTRANS_ACTIVE && status != PQTRANS_UNKNOWN;
}

bool connection::is_in_transaction() const noexcept {
    return is_usable() && PQtransactionStatus(handle_.get()) != PQTRANS_IDLE;
}

asio::awaitable<answer> connection::query(std::string sql, std::vector<std::string> parameters) {
    std::vector<char const*> values;
    for (std::string const& each : parameters)
        values.push_back(each.c_str());
    if (!is_usable() || !PQsendQueryParams(handle_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                                           values.data(), nullptr, nullptr, 0))
        fail("08003"); // connection does not exist
    for (int left = PQflush(handle_.get()); left != 0; left = PQflush(handle_.get())) {
        if (left < 0)
            fail("08006"); // connection failure
        co_await socket_->async_wait(stream_descriptor::wait_write, asio::use_awaitable);
    }
    result last(nullptr, PQclear);
    for (;;) {
        co_await wait_for_answer();
        result next(PQgetResult(handle_.get()), PQclear);
        if (!next)
            break;
        if (!last || is_success(*last)) // the first error is the server's, another one says that it is gone
            last = std::move(next);
    }
    if (!last || !is_success(*last)) {
        char const* const state = last ? PQresultErrorField(last.get(), PG_DIAG_SQLSTATE) : nullptr;
        fail(state ? state : "08006");
    }
    co_return read(*last);
}

asio::awaitable<void> connection::wait_for_answer() {
    while (PQisBusy(handle_.get())) {
        co_await socket_->async_wait(stream_descriptor::wait_read, asio::use_awaitable);
        if (!PQconsumeInput(handle_.get()))
            break; // PQgetResult tells what the server has still said
    }
}

/// libpq closes its socket when it likes to. A duplicate stays registered with Asio until that lets go of it.
stream_descriptor connection::duplicate_socket() const {
    int const copy = ::fcntl(PQsocket(handle_.get()), F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        throw system_error(error_code(errno, boost::system::system_category()), "fcntl");
    return stream_descriptor(executor_, copy);
}

void connection::fail(char const* state) const {
    throw system_error(make_sqlstate(state), handle_ ? PQerrorMessage(handle_.get()) : "not connected");
}

} // namespace postgres
