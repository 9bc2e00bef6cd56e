// A receiver whose work is in a database, here SQLite, keeps the key of each request there too, and in the same
// transaction: either both are there or neither, wherever it crashes. A key that only a process remembers is
// lost with it, and the work is done again.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/idempotency_key.hpp>

#include <boost/asio.hpp>

#include <sqlite3.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

class database {
public:
    explicit database(std::string const& file) {
        sqlite3* opened = nullptr;
        int const result = sqlite3_open(file.c_str(), &opened);
        handle_.reset(opened);
        if (result != SQLITE_OK)
            fail();
    }

    /// The first column of what a statement yields; `?` in it are the arguments.
    std::vector<std::string> operator()(char const* sql, std::vector<std::string> const& arguments = {}) {
        sqlite3_stmt* prepared = nullptr;
        if (sqlite3_prepare_v2(handle_.get(), sql, -1, &prepared, nullptr) != SQLITE_OK)
            fail();
        std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> const statement(prepared, sqlite3_finalize);
        int place = 0;
        for (std::string const& each : arguments)
            sqlite3_bind_text(prepared, ++place, each.c_str(), -1, SQLITE_TRANSIENT);
        std::vector<std::string> rows;
        int step;
        while ((step = sqlite3_step(prepared)) == SQLITE_ROW)
            rows.emplace_back(reinterpret_cast<char const*>(sqlite3_column_text(prepared, 0)));
        if (step != SQLITE_DONE)
            fail();
        return rows;
    }

    int changes() const { return sqlite3_changes(handle_.get()); }

private:
    [[noreturn]] void fail() { throw std::runtime_error(sqlite3_errmsg(handle_.get())); }

    std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, sqlite3_close};
};

enum class crash { never, before_commit, after_commit };

/// One process that serves payments. When it crashes it is gone, with its connection to the database and with
/// the transaction that it was in.
class payments {
public:
    explicit payments(std::string const& file)
        : db_(file) {
        db_("CREATE TABLE IF NOT EXISTS charge (number INTEGER PRIMARY KEY, amount TEXT)");
        db_("CREATE TABLE IF NOT EXISTS request (key TEXT PRIMARY KEY, answer TEXT)");
    }

    std::string pay(std::string const& amount, std::string const& key, crash when) {
        db_("BEGIN IMMEDIATE");
        if (!key.empty()) {
            db_("INSERT OR IGNORE INTO request (key) VALUES (?)", {key});
            if (db_.changes() == 0) { // it is there: all has been done
                db_("ROLLBACK");
                return db_("SELECT answer FROM request WHERE key = ?", {key}).at(0);
            }
        }
        db_("INSERT INTO charge (amount) VALUES (?)", {amount});
        std::string const answer = "charge " + db_("SELECT last_insert_rowid()").at(0);
        if (!key.empty())
            db_("UPDATE request SET answer = ? WHERE key = ?", {answer, key});
        if (when == crash::before_commit)
            throw boost::system::system_error(asio::error::connection_reset);
        db_("COMMIT");
        if (when == crash::after_commit)
            throw boost::system::system_error(asio::error::connection_reset);
        return answer;
    }

    std::string charges() { return db_("SELECT count(*) FROM charge").at(0); }

private:
    database db_;
};

/// Pays with retries; the process that gets the first attempt crashes.
void show(char const* what, std::string const& key, crash when) {
    auto const name = "asio_retry_" + asio_retry::idempotency_key::random().to_string() + ".db";
    std::string const file = (std::filesystem::temp_directory_path() / name).string();
    asio::io_context io;
    auto const attempt = [&](asio_retry::attempt a) -> asio::awaitable<std::string> {
        payments process(file); // a new one each time: nothing but the file is left of the one before
        co_return process.pay("10 EUR", key, a.number == 1 ? when : crash::never);
    };
    asio_retry::async_retry(io, attempt, asio_retry::retry_policy().backoff(asio_retry::constant(1ms)),
                            [&](std::exception_ptr e, std::string const& answer) {
                                if (e)
                                    std::rethrow_exception(e);
                                std::cout << what << ": " << answer << " of " << payments(file).charges()
                                          << '\n';
                            });
    io.run();
    std::filesystem::remove(file);
}

int main() {
    std::string const key = asio_retry::idempotency_key::random().to_string();
    show("no key, it crashes before the commit", "", crash::before_commit);
    show("no key, it crashes after the commit", "", crash::after_commit);
    show("a key, it crashes before the commit", key, crash::before_commit);
    show("a key, it crashes after the commit", key, crash::after_commit);
}
