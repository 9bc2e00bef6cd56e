// The recipe of example/boost_mysql before a real MariaDB that is killed, stopped and started again under load.
// And what its own error codes mean.
#include "boost_mysql/transfer.hpp"
#include "child_process.hpp"
#include "mysql_process.hpp"
#include "ports.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_event.hpp>

#include <boost/asio.hpp>
#include <boost/mysql.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
namespace mysql = boost::mysql;
using boost::system::error_code;
using boost::system::system_error;
using common = mysql::common_server_errc;
using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::string mysql_program; // mariadbd

constexpr int accounts = 6; // few, so that transfers meet
constexpr int tellers = 16;
constexpr int connections = 20;
constexpr std::int64_t everything = accounts * 1'000'000;

void rethrow_mysql(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

std::int64_t ms(clock::duration d) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

asio::awaitable<error_code> code_of(asio::awaitable<void> of) {
    try {
        co_await std::move(of);
    } catch (system_error const& e) {
        co_return e.code();
    }
    co_return error_code();
}

class mysql_test : public testing::Test {
protected:
    static void SetUpTestSuite() {
        server.emplace(mysql_program, connections);
        ask("CREATE DATABASE bank");
        ask("CREATE USER teller@127.0.0.1 IDENTIFIED BY 'right'");
        ask("GRANT ALL ON bank.* TO teller@127.0.0.1");
    }
    static void TearDownTestSuite() { server.reset(); }

    void SetUp() override {
        ask("DROP TABLE IF EXISTS bank.account, bank.transfer");
        ask("CREATE TABLE bank.account (id INT PRIMARY KEY, balance BIGINT NOT NULL)");
        ask("CREATE TABLE bank.transfer (id VARCHAR(40) PRIMARY KEY)");
        ask("INSERT INTO bank.account SELECT seq, 1000000 FROM bank.seq_1_to_" + std::to_string(accounts));
    }

    /// As the administrator, over the socket, which the server keeps a place for.
    static mysql::results ask(std::string const& sql) {
        asio::io_context io;
        mysql::any_connection db(io);
        mysql::connect_params params;
        params.server_address.emplace_unix_path(server->socket());
        params.username = "root";
        db.connect(params);
        mysql::results found;
        db.execute(sql, found);
        return found;
    }

    static std::int64_t number(std::string const& sql) {
        mysql::results const found = ask("SELECT CAST((" + sql + ") AS SIGNED)");
        return found.rows().at(0).at(0).as_int64();
    }
    static std::int64_t money() { return number("SELECT SUM(balance) FROM bank.account"); }
    static std::int64_t balance(int id) {
        return number("SELECT balance FROM bank.account WHERE id = " + std::to_string(id));
    }
    static std::int64_t rows() { return number("SELECT COUNT(*) FROM bank.transfer"); }

    static mysql::connect_params teller(std::string password = "right") {
        mysql::connect_params params;
        params.server_address.emplace_host_and_port("127.0.0.1", server->port());
        params.username = "teller";
        params.password = std::move(password);
        params.database = "bank";
        return params;
    }

    /// Tries again sooner than after the 30 s, and gives up sooner than after the 20 s and 10 s, that it has by
    /// default.
    static mysql::pool_params pool_of(mysql::connect_params const& who, std::size_t size = 12) {
        mysql::pool_params params;
        params.server_address = who.server_address;
        params.username = who.username;
        params.password = who.password;
        params.database = who.database;
        params.max_size = size;
        params.retry_interval = 100ms;
        params.connect_timeout = 1s;
        params.ping_timeout = 1s;
        return params;
    }

    static std::optional<mysql_process> server;
};

std::optional<mysql_process> mysql_test::server;

void run_session(std::function<asio::awaitable<void>()> const& session) {
    asio::io_context io(1);
    asio::co_spawn(io, session, rethrow_mysql);
    io.run();
}

// --- what the server says, and what it means

class mysql_codes : public mysql_test {
protected:
    static asio::awaitable<void> execute(mysql::any_connection& db, std::string sql) {
        mysql::results r;
        co_await db.async_execute(sql, r);
    }

    static asio::awaitable<void> connect(mysql::connect_params who) {
        mysql::any_connection db(co_await asio::this_coro::executor);
        co_await db.async_connect(who);
    }

    static asio::awaitable<error_code> code_after(mysql::any_connection& db, std::string sql) {
        co_return co_await code_of(execute(db, std::move(sql)));
    }

    static void expect(error_code const& code, error_code const& expected, failure_class what) {
        EXPECT_EQ(code, expected) << code.message();
        EXPECT_EQ(classify(code).kind, what.kind) << code;
        EXPECT_EQ(classify(code).effect, what.effect) << code;
    }

    static std::int64_t left_after_read_only_before(std::string const& last);
};

constexpr failure_class undone_by_mysql{failure_kind::transient, effect::none};
constexpr failure_class still_open_at_mysql{failure_kind::transient, effect::possible};
constexpr failure_class too_busy_for_mysql{failure_kind::overloaded, effect::none};
constexpr failure_class wrong_for_mysql{failure_kind::permanent, effect::possible};

TEST_F(mysql_codes, a_deadlock_a_lock_and_a_changed_row_are_conflicts) {
    ask("CREATE TABLE bank.note (id INT) ENGINE = Aria");
    run_session([]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        mysql::any_connection one(executor), other(executor);
        co_await one.async_connect(teller());
        co_await other.async_connect(teller());
        co_await execute(one, "START TRANSACTION");
        co_await execute(one, "INSERT INTO note VALUES (1)");
        co_await execute(one, "UPDATE account SET balance = 1 WHERE id = 1");
        co_await execute(other, "START TRANSACTION");
        co_await execute(other, "INSERT INTO note VALUES (2)");
        co_await execute(other, "UPDATE account SET balance = 2 WHERE id = 2");
        std::optional<error_code> of_one;
        asio::co_spawn(executor, code_after(one, "UPDATE account SET balance = 1 WHERE id = 2"),
                       [&](std::exception_ptr, error_code ec) { of_one = ec; });
        error_code const of_other = co_await code_after(other, "UPDATE account SET balance = 2 WHERE id = 1");
        asio::steady_timer soon(executor);
        while (!of_one) {
            soon.expires_after(1ms);
            co_await soon.async_wait(asio::deferred);
        }
        expect(*of_one ? *of_one : of_other, common::er_lock_deadlock, undone_by_mysql);
        EXPECT_TRUE(surely_not_done(common::er_lock_deadlock));
        co_await execute(*of_one ? one : other, "START TRANSACTION"); // would commit what is not undone
        co_await execute(one, "ROLLBACK");
        co_await execute(other, "ROLLBACK");
        EXPECT_EQ(money(), everything);
        EXPECT_EQ(number("SELECT COUNT(*) FROM bank.note"), 2) << "that table knows no transactions";

        co_await execute(one, "START TRANSACTION");
        co_await execute(one, "UPDATE account SET balance = 1 WHERE id = 1");
        co_await execute(other, "SET innodb_lock_wait_timeout = 1");
        error_code const late = co_await code_after(other, "UPDATE account SET balance = 2 WHERE id = 1");
        expect(late, common::er_lock_wait_timeout, still_open_at_mysql);

        co_await execute(other, "SET innodb_snapshot_isolation = ON");
        co_await execute(other, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
        co_await execute(one, "COMMIT");
        error_code const changed = co_await code_after(other, "UPDATE account SET balance = 2 WHERE id = 1");
        expect(changed, common::er_checkread, undone_by_mysql);
    });
    ask("DROP TABLE bank.note");
}

// Then the next attempt begins on the same connection. Its START TRANSACTION commits what the first has done.
TEST_F(mysql_codes, a_lock_and_a_limit_of_the_user_undo_a_statement_and_leave_its_transaction_open) {
    ask("CREATE USER rare@127.0.0.1 WITH MAX_UPDATES_PER_HOUR 2");
    ask("GRANT ALL ON bank.* TO rare@127.0.0.1");
    run_session([]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        mysql::any_connection holder(executor), db(executor), seldom(executor);
        co_await holder.async_connect(teller());
        co_await execute(holder, "START TRANSACTION");
        co_await execute(holder, "UPDATE account SET balance = 1 WHERE id = 2");
        std::string const pay = "UPDATE account SET balance = balance - 10 WHERE id = 1";

        co_await db.async_connect(teller());
        co_await execute(db, "START TRANSACTION");
        co_await execute(db, pay);
        error_code const late = co_await code_after(db, "SELECT * FROM account WHERE id = 2 FOR UPDATE NOWAIT");
        expect(late, common::er_lock_wait_timeout, still_open_at_mysql);
        co_await execute(db, "START TRANSACTION");
        EXPECT_EQ(balance(1), 1'000'000 - 10);

        auto rare = teller("");
        rare.username = "rare";
        co_await seldom.async_connect(rare);
        co_await execute(seldom, "START TRANSACTION");
        co_await execute(seldom, pay);
        co_await execute(seldom, pay);
        error_code const used_up = co_await code_after(seldom, pay);
        expect(used_up, common::er_user_limit_reached, {failure_kind::throttled, effect::possible});
        co_await execute(seldom, "START TRANSACTION");
        EXPECT_EQ(balance(1), 1'000'000 - 30);
    });
    ask("DROP USER rare@127.0.0.1");
}

/// The balance of account 1, which gives 10 away in a transaction. Before its statement `last` the server
/// becomes read-only and refuses it. The next attempt begins on the same connection.
std::int64_t mysql_codes::left_after_read_only_before(std::string const& last) {
    run_session([&]() -> asio::awaitable<void> {
        mysql::any_connection db(co_await asio::this_coro::executor);
        co_await db.async_connect(teller());
        co_await execute(db, "START TRANSACTION");
        co_await execute(db, "UPDATE account SET balance = balance - 10 WHERE id = 1");
        ask("SET GLOBAL read_only = ON");
        error_code const refused = co_await code_after(db, last);
        ask("SET GLOBAL read_only = OFF");
        expect(refused, common::er_option_prevents_statement, still_open_at_mysql);
        EXPECT_FALSE(surely_not_done(refused));
        co_await execute(db, "START TRANSACTION");
    });
    return balance(1);
}

TEST_F(mysql_codes, a_server_that_becomes_read_only_refuses_a_statement_and_leaves_its_transaction_open) {
    EXPECT_EQ(left_after_read_only_before("UPDATE account SET balance = balance + 10 WHERE id = 2"),
              1'000'000 - 10);
    EXPECT_EQ(balance(2), 1'000'000) << "half a transfer";
}

TEST_F(mysql_codes, a_server_that_becomes_read_only_undoes_the_transaction_at_its_COMMIT) {
    EXPECT_EQ(left_after_read_only_before("COMMIT"), 1'000'000);
}

TEST_F(mysql_codes, too_many_connections_of_all_and_of_one_user_are_overload) {
    ask("CREATE USER few@127.0.0.1 WITH MAX_USER_CONNECTIONS 1");
    ask("CREATE USER rare@127.0.0.1 WITH MAX_QUERIES_PER_HOUR 1");
    run_session([]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        auto few = teller("");
        few.username = "few";
        few.database = "";
        auto rare = few;
        rare.username = "rare";
        mysql::any_connection db(executor), seldom(executor);
        co_await db.async_connect(few);
        error_code const second = co_await code_of(connect(few));
        EXPECT_EQ(second.value(), 1226) << second.message(); // a limit of the user's own
        EXPECT_EQ(classify(second).kind, failure_kind::throttled);
        co_await seldom.async_connect(rare);
        error_code used_up;
        while (!used_up)
            used_up = co_await code_after(seldom, "SELECT 1");
        expect(used_up, common::er_user_limit_reached, {failure_kind::throttled, effect::possible});

        std::vector<std::unique_ptr<mysql::any_connection>> all;
        error_code full;
        while (!full) {
            all.push_back(std::make_unique<mysql::any_connection>(executor));
            auto const join = [&]() -> asio::awaitable<void> { co_await all.back()->async_connect(teller()); };
            full = co_await code_of(join());
        }
        expect(full, common::er_con_count_error, too_busy_for_mysql);
    });
    ask("DROP USER few@127.0.0.1");
    ask("DROP USER rare@127.0.0.1");
}

// The server keeps one place more. Whoever takes it without the right to it is refused after the login, and
// everybody else before the greeting, and so before TLS.
TEST_F(mysql_codes,
       too_many_connections_come_before_TLS_and_Boost_MySQL_says_so_where_MariaDBs_client_does_not) {
    run_session([]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        std::vector<std::unique_ptr<tcp::socket>> half_open; // nobody has logged in
        while (half_open.size() != std::size_t{connections} + 1) {
            auto client = std::make_unique<tcp::socket>(executor);
            client->connect(on_loopback(server->port()));
            std::array<char, 5> head{};
            asio::read(*client, asio::buffer(head));
            if (head[4] == 10) // a greeting, of version 10 of the protocol; else one before is not yet gone
                half_open.push_back(std::move(client));
        }
        for (mysql::ssl_mode const mode :
             {mysql::ssl_mode::disable, mysql::ssl_mode::enable, mysql::ssl_mode::require}) {
            auto who = teller();
            who.ssl = mode;
            error_code const full = co_await code_of(connect(who));
            expect(full, common::er_con_count_error, too_busy_for_mysql);
        }
        std::string const demanded = server->say_of_client("teller", "right", "--ssl-verify-server-cert");
        EXPECT_NE(demanded.find("ERROR 2002 (HY000)"), std::string::npos) << demanded;
        EXPECT_NE(demanded.find("1040"), std::string::npos) << "its text alone says so: " << demanded;
        std::string const plain = server->say_of_client("teller", "right", "--skip-ssl");
        EXPECT_NE(plain.find("ERROR 1040 (HY000)"), std::string::npos) << plain;
    });
    run_session([]() -> asio::awaitable<void> { // the server notices later that they have gone
        auto const join = [] { return connect(teller()); };
        co_await async_retry(join, patient);
    });
}

TEST_F(mysql_codes, what_took_too_long_is_a_timeout_and_who_was_killed_was_cut_off) {
    run_session([]() -> asio::awaitable<void> {
        mysql::any_connection db(co_await asio::this_coro::executor);
        co_await db.async_connect(teller());
        co_await execute(db, "SET max_statement_time = 0.01");
        error_code const slow = co_await code_after(db, "SELECT SLEEP(20), COUNT(*) FROM account");
        EXPECT_EQ(slow.value(), 1969) << slow.message();
        EXPECT_EQ(classify(slow).kind, failure_kind::timeout) << slow;
        error_code const killed = co_await code_after(db, "KILL CONNECTION_ID()");
        EXPECT_EQ(classify(killed).kind, failure_kind::transient) << killed << ' ' << killed.message();
        EXPECT_EQ(classify(killed).effect, effect::possible) << killed;
        error_code const gone = co_await code_after(db, "SELECT 1");
        EXPECT_EQ(classify(gone).kind, failure_kind::transient) << gone << ' ' << gone.message();
    });
}

TEST_F(mysql_codes, what_is_wrong_stays_wrong) {
    run_session([]() -> asio::awaitable<void> {
        mysql::any_connection db(co_await asio::this_coro::executor);
        co_await db.async_connect(teller());
        error_code const syntax = co_await code_after(db, "SELEKT 1");
        expect(syntax, common::er_parse_error, wrong_for_mysql);
        error_code const table = co_await code_after(db, "SELECT * FROM nothing");
        expect(table, common::er_no_such_table, wrong_for_mysql);
        error_code const twice = co_await code_after(db, "INSERT INTO account VALUES (1, 1)");
        expect(twice, common::er_dup_entry, wrong_for_mysql);
        error_code const denied = co_await code_of(connect(teller("wrong")));
        expect(denied, common::er_access_denied_error, wrong_for_mysql);
        auto nowhere = teller();
        nowhere.database = "nothing";
        error_code const no_database = co_await code_of(connect(nowhere));
        EXPECT_EQ(classify(no_database).kind, failure_kind::permanent) << no_database.message();
    });
}

// --- transfers

struct mysql_figures {
    std::atomic<std::int64_t> acknowledged = 0;
    std::int64_t deadlocks = 0, deadlocks_at_once = 0, refused = 0, cut_off = 0, timeouts = 0, overloaded = 0;
    std::map<int, std::int64_t> gained; // by the accounts, in acknowledged transfers
    clock::duration longest{};
    std::vector<clock::duration> back; // from the server's return to the next success

    /// On the thread that has started the server, or has let it go on.
    void note_return() {
        auto const begin = clock::now();
        for (std::int64_t const before = acknowledged; acknowledged == before && clock::now() - begin < 30s;)
            std::this_thread::sleep_for(1ms);
        back.push_back(clock::now() - begin);
    }

    void note(retry_event const& event) {
        bool const at_once = event.delay == duration::zero();
        if (event.error == common::er_lock_deadlock) {
            ++deadlocks;
            deadlocks_at_once += at_once;
            return;
        }
        refused += event.error == asio::error::connection_refused;
        timeouts += event.kind == failure_kind::timeout;
        overloaded += event.kind == failure_kind::overloaded;
        cut_off += event.kind == failure_kind::transient && event.error != asio::error::connection_refused;
    }
};

class mysql_transfers : public mysql_test {
protected:
    static retry_policy counted(mysql_figures& figures, retry_policy const& policy = patient) {
        return policy.on_retry([&figures](retry_event const& event) { figures.note(event); });
    }

    static asio::awaitable<void> work(mysql::connection_pool& pool, int teller_number, mysql_figures& figures,
                                      retry_policy policy, std::atomic<bool> const& is_enough) {
        random dice(7, static_cast<std::uint64_t>(teller_number));
        for (int i = 0; !is_enough; ++i) {
            int const from = static_cast<int>(dice.uniform(1, accounts));
            int const to = 1 + (from + static_cast<int>(dice.uniform(0, accounts - 2))) % accounts;
            auto const begin = clock::now();
            std::string const key = std::to_string(teller_number) + '-' + std::to_string(i);
            int const amount = static_cast<int>(dice.uniform(1, 5));
            co_await transfer(pool, teller(), key, from, to, amount, policy);
            figures.gained[from] -= amount;
            figures.gained[to] += amount;
            ++figures.acknowledged;
            figures.longest = std::max(figures.longest, clock::now() - begin);
        }
    }

    /// All tellers on a thread of their own, while `meanwhile` happens on this one.
    static void work_through(mysql_figures& figures, retry_policy const& policy,
                             std::function<void()> const& meanwhile) {
        std::atomic<bool> is_enough = false;
        asio::io_context io(1);
        mysql::connection_pool pool(io, pool_of(teller()));
        pool.async_run(asio::detached);
        int at_work = tellers;
        for (int i = 0; i != tellers; ++i)
            asio::co_spawn(io, work(pool, i, figures, counted(figures, policy), is_enough),
                           [&](std::exception_ptr e) {
                               EXPECT_NO_THROW(rethrow_mysql(e)) << "a transfer failed";
                               if (--at_work == 0)
                                   pool.cancel();
                           });
        std::thread at_the_counter([&io] { io.run(); });
        meanwhile(); // here, as the server ends with the thread that has started it
        is_enough = true;
        at_the_counter.join();
    }

    static void expect_each_is_done_once(mysql_figures const& f) {
        EXPECT_EQ(rows(), f.acknowledged);
        EXPECT_EQ(money(), everything);
        for (auto const& [id, gain] : f.gained)
            EXPECT_EQ(balance(id), 1'000'000 + gain) << "account " << id;
    }

    static void show(char const* what, mysql_figures const& f) {
        std::cout << what << ": " << f.acknowledged << " transfers acknowledged, " << rows() << " done, sum "
                  << money() << "; " << f.deadlocks << " deadlocks, " << f.deadlocks_at_once
                  << " of them retried at once; " << f.refused << " refused, " << f.cut_off << " cut off, "
                  << f.timeouts << " timed out, " << f.overloaded << " overloaded; longest transfer "
                  << ms(f.longest) << " ms";
        for (clock::duration const d : f.back)
            std::cout << ", back after " << ms(d) << " ms";
        std::cout << '\n';
    }
};

TEST_F(mysql_transfers, deadlocks_are_retried_at_once_and_the_sum_stays) {
    auto const a_while = [] { std::this_thread::sleep_for(3s); };
    mysql_figures at_once;
    work_through(at_once, patient, a_while);
    show("deadlocks retried at once, 3 s", at_once);
    EXPECT_GT(at_once.deadlocks, 0);
    EXPECT_EQ(at_once.deadlocks_at_once, at_once.deadlocks);
    expect_each_is_done_once(at_once);

    SetUp();
    mysql_figures delayed;
    work_through(delayed, retry_policy().backoff(exponential(50ms).cap(2s)).unlimited_attempts(), a_while);
    show("deadlocks retried after a delay, 3 s", delayed);
    EXPECT_LT(delayed.deadlocks_at_once, delayed.deadlocks);
    expect_each_is_done_once(delayed);
}

TEST_F(mysql_transfers, are_done_once_each_while_the_server_is_killed_stopped_and_started) {
    mysql_figures figures;
    work_through(figures, patient, [&] {
        for (int i = 0; i != 2; ++i) {
            std::this_thread::sleep_for(700ms);
            server->end(SIGKILL);
            std::this_thread::sleep_for(300ms);
            server->start();
            figures.note_return();
        }
        server->send(SIGSTOP);
        std::this_thread::sleep_for(4s);
        server->send(SIGCONT);
        figures.note_return();
        std::this_thread::sleep_for(700ms);
        server->end(SIGTERM);
        server->start();
        figures.note_return();
        std::this_thread::sleep_for(1s);
    });
    show("killed twice, stopped for 4 s, restarted", figures);
    EXPECT_GT(figures.deadlocks, 0);
    EXPECT_GT(figures.cut_off, 0);
    EXPECT_GT(figures.timeouts, 0) << "the server that stood still";
    expect_each_is_done_once(figures);
}

TEST_F(mysql_transfers, are_done_once_however_often_the_answer_is_lost) {
    run_session([]() -> asio::awaitable<void> {
        mysql::connection_pool pool(co_await asio::this_coro::executor, pool_of(teller()));
        pool.async_run(asio::detached);
        for (int i = 0; i != 3; ++i)
            co_await transfer(pool, teller(), "rent", 1, 2, 10);
        pool.cancel();
    });
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(balance(2), 1'000'010);
    EXPECT_EQ(money(), everything);
}

// The next statement on that connection would take the answer for its own, and an INSERT that of a START
// TRANSACTION.
TEST_F(mysql_transfers, are_done_though_an_answer_comes_after_its_attempt) {
    mysql_figures figures;
    run_session([&]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        mysql::connection_pool pool(executor, pool_of(teller(), 1));
        pool.async_run(asio::detached);
        auto connected = co_await pool.async_get_connection(asio::deferred);
        connected.return_without_reset();
        server->send(SIGSTOP);
        asio::steady_timer timer(executor, 500ms);
        timer.async_wait([](error_code) { server->send(SIGCONT); });
        auto const policy = counted(figures, patient.attempt_timeout(300ms));
        for (char const* const key : {"late", "next"})
            co_await transfer(pool, teller(), key, 1, 2, 10, policy);
        pool.cancel();
    });
    EXPECT_GT(figures.timeouts, 0);
    EXPECT_EQ(rows(), 2);
    EXPECT_EQ(balance(2), 1'000'020);
    EXPECT_EQ(money(), everything);
}

TEST_F(mysql_transfers, wait_while_the_server_has_too_many_connections) {
    mysql_figures figures;
    std::map<failure_kind, int> kinds;
    run_session([&]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        std::vector<std::unique_ptr<mysql::any_connection>> hold;
        error_code full;
        while (!full) {
            hold.push_back(std::make_unique<mysql::any_connection>(executor));
            auto const join = [&]() -> asio::awaitable<void> { co_await hold.back()->async_connect(teller()); };
            full = co_await code_of(join());
        }
        mysql::connection_pool pool(executor, pool_of(teller()));
        pool.async_run(asio::detached);
        auto const policy = patient.on_retry([&](retry_event const& event) {
            EXPECT_EQ(event.error, common::er_con_count_error) << event.error.message();
            ++kinds[event.kind];
            if (event.attempt == 2)
                hold.clear();
        });
        co_await transfer(pool, teller(), "rent", 1, 2, 10, policy);
        pool.cancel();
    });
    EXPECT_EQ(kinds.size(), 1u);
    EXPECT_GE(kinds[failure_kind::overloaded], 2);
    EXPECT_EQ(rows(), 1);
    std::cout << kinds[failure_kind::overloaded] << " attempts met too many connections\n";
}

TEST_F(mysql_transfers, end_at_once_with_wrong_credentials_and_after_a_syntax_error) {
    run_session([]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        int retries = 0;
        auto const policy = patient.on_retry([&](retry_event const&) { ++retries; });
        mysql::connection_pool pool(executor, pool_of(teller("wrong")));
        pool.async_run(asio::detached);
        auto const begin = clock::now();
        error_code const denied = co_await code_of(transfer(pool, teller("wrong"), "rent", 1, 2, 10, policy));
        std::cout << "wrong credentials: " << denied.message() << " after " << ms(clock::now() - begin)
                  << " ms, " << retries << " retries\n";
        EXPECT_EQ(denied, common::er_access_denied_error);
        EXPECT_EQ(retries, 0);
        pool.cancel();
        ask("DROP TABLE bank.transfer");
        mysql::connection_pool right(executor, pool_of(teller()));
        right.async_run(asio::detached);
        error_code const no_table = co_await code_of(transfer(right, teller(), "rent", 1, 2, 10, policy));
        EXPECT_EQ(no_table, common::er_no_such_table);
        EXPECT_EQ(retries, 0);
        right.cancel();
    });
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc < 2 || !asio_retry::test::mysql_process::is_runnable(argv[1])) {
        std::cout
            << "skipped: there is no MariaDB that can be run here; ./cmake/bootstrap.sh install-services gets "
               "it\n";
        return 77;
    }
    asio_retry::test::mysql_program = argv[1];
    return RUN_ALL_TESTS();
}
