// The teller of example/postgres before a real PostgreSQL that is shut down at once, killed and started again,
// and behind a relay that withholds answers to COMMIT. And what the server's own error codes mean.
#include "cutting_relay.hpp"
#include "postgres/sqlstate.hpp"
#include "postgres/teller.hpp"
#include "postgres_process.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/random.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using boost::system::system_error;
using postgres::connection;
using postgres::receipt;
using postgres::sql_condition;
using namespace std::chrono_literals;

std::string postgres_program; // postgres

constexpr int accounts = 40;
constexpr std::uint64_t seed_of_the_test = 19;

void rethrow(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

/// On one thread, until it has ended.
void run(std::function<asio::awaitable<void>()> const& session) {
    asio::io_context io(1);
    asio::co_spawn(io, session, rethrow);
    io.run();
}

/// What a statement or a connection fails with.
template <typename Value>
asio::awaitable<error_code> failure_of(asio::awaitable<Value> of) {
    try {
        co_await std::move(of);
    } catch (system_error const& e) {
        co_return e.code();
    }
    co_return error_code();
}

class postgres_test : public testing::Test {
protected:
    static void SetUpTestSuite() { server.emplace(postgres_program); }
    static void TearDownTestSuite() { server.reset(); }

    void SetUp() override {
        ask("DROP TABLE IF EXISTS account, transfer");
        ask(postgres::account_table);
        ask(postgres::transfer_table);
        ask("INSERT INTO account SELECT id, 1000000 FROM generate_series(1, " + std::to_string(accounts) +
            ") id");
    }

    /// On a connection of its own, past the relay; also of a server that is not quite there.
    static std::vector<std::vector<std::string>> ask(std::string const& sql) {
        std::vector<std::vector<std::string>> rows;
        auto const question = [&]() -> asio::awaitable<void> {
            connection db(co_await asio::this_coro::executor);
            co_await db.open(server->address());
            rows = (co_await db.query(sql)).rows;
        };
        auto const policy = retry_policy()
                                .backoff(constant(20ms))
                                .unlimited_attempts()
                                .total_timeout(20s)
                                .retry_if(worth_retrying);
        run([&]() -> asio::awaitable<void> { co_await async_retry(question, policy); });
        return rows;
    }

    static std::int64_t number(std::string const& sql) { return std::stoll(ask(sql).at(0).at(0)); }

    static std::int64_t rows() { return number("SELECT count(*) FROM transfer"); }
    static std::int64_t keys() { return number("SELECT count(DISTINCT key) FROM transfer"); }
    static std::int64_t duplicates() { return number("SELECT count(*) - count(DISTINCT key) FROM transfer"); }
    static std::int64_t money() { return number("SELECT sum(balance) FROM account"); }
    static std::int64_t balance(int account) {
        return number("SELECT balance FROM account WHERE id = " + std::to_string(account));
    }

    static std::optional<postgres_process> server;
};

std::optional<postgres_process> postgres_test::server;

// --- what the server says, and what it means

class sqlstates : public postgres_test {
protected:
    static void expect(error_code const& code, std::string const& state, failure_class what) {
        ASSERT_TRUE(code.category() == postgres::sqlstate_category()) << code.message();
        EXPECT_EQ(postgres::state_of(code), state);
        EXPECT_EQ(classify(code).kind, what.kind) << state;
        EXPECT_EQ(classify(code).effect, what.effect) << state;
    }

    static void expect_conflict(error_code const& code) {
        EXPECT_TRUE(code == sql_condition::conflict) << code.message();
        EXPECT_FALSE(code == sql_condition::unavailable) << code.message();
        EXPECT_TRUE(worth_retrying(code)) << code.message();
    }

    static void expect_unavailable(error_code const& code) {
        EXPECT_TRUE(code == sql_condition::unavailable) << code.message();
        EXPECT_FALSE(code == sql_condition::conflict) << code.message();
        EXPECT_TRUE(worth_retrying(code)) << code.message();
    }

    static void expect_permanent(error_code const& code, std::string const& state) {
        expect(code, state, {failure_kind::permanent, effect::possible});
        EXPECT_FALSE(code == sql_condition::conflict);
        EXPECT_FALSE(code == sql_condition::unavailable);
    }
};

TEST_F(sqlstates, two_transactions_that_cannot_be_one_after_the_other_are_a_conflict) {
    run([]() -> asio::awaitable<void> {
        connection one(co_await asio::this_coro::executor), other(co_await asio::this_coro::executor);
        for (connection* const each : {&one, &other}) {
            co_await each->open(server->address());
            co_await each->query("BEGIN ISOLATION LEVEL SERIALIZABLE");
            co_await each->query("SELECT sum(balance) FROM account");
        }
        co_await one.query("UPDATE account SET balance = 1 WHERE id = 1");
        co_await other.query("UPDATE account SET balance = 2 WHERE id = 2");
        co_await one.query("COMMIT");
        error_code const code = co_await failure_of(other.query("COMMIT"));
        EXPECT_EQ(postgres::state_of(code), "40001");
        expect_conflict(code);
        EXPECT_EQ(classify_sqlstate(postgres::state_of(code)).effect, effect::none);
        EXPECT_FALSE(other.is_in_transaction());
        EXPECT_TRUE(other.is_usable());
    });
    EXPECT_EQ(balance(1), 1);
    EXPECT_EQ(balance(2), 1'000'000) << "it is undone";
}

TEST_F(sqlstates, a_procedure_that_commits_has_done_a_part_before_it_fails) {
    ask("CREATE OR REPLACE PROCEDURE pay() LANGUAGE plpgsql AS $$ BEGIN"
        " UPDATE account SET balance = balance - 10 WHERE id = 1; COMMIT;"
        " PERFORM 1 FROM account WHERE id = 2 FOR UPDATE NOWAIT; END $$");
    run([]() -> asio::awaitable<void> {
        connection holder(co_await asio::this_coro::executor), db(co_await asio::this_coro::executor);
        co_await holder.open(server->address());
        co_await db.open(server->address());
        co_await holder.query("BEGIN");
        co_await holder.query("UPDATE account SET balance = 1 WHERE id = 2");
        expect(co_await failure_of(db.query("CALL pay()")), "55P03", {failure_kind::transient, effect::none});
        EXPECT_FALSE(db.is_in_transaction());
    });
    EXPECT_EQ(balance(1), 1'000'000 - 10) << "the code is about the second transaction";
}

TEST_F(sqlstates, a_deadlock_is_a_conflict) {
    run([]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        std::array<connection, 2> both{connection(executor), connection(executor)};
        std::array<error_code, 2> codes;
        for (std::size_t i = 0; i != 2; ++i) {
            co_await both[i].open(server->address());
            co_await both[i].query("BEGIN");
            co_await both[i].query("UPDATE account SET balance = 1 WHERE id = " + std::to_string(i + 1));
        }
        auto const wait_for_the_other = [&](std::size_t i) -> asio::awaitable<void> {
            codes[i] = co_await failure_of(
                both[i].query("UPDATE account SET balance = 1 WHERE id = " + std::to_string(2 - i)));
            co_await both[i].query("ROLLBACK");
        };
        auto first = asio::co_spawn(executor, wait_for_the_other(0), asio::deferred);
        bool is_over = false;
        asio::co_spawn(executor, wait_for_the_other(1), [&](std::exception_ptr) { is_over = true; });
        co_await std::move(first)(asio::use_awaitable);
        while (!is_over)
            co_await asio::post(executor, asio::use_awaitable);
        EXPECT_NE(codes[0].failed(), codes[1].failed()) << "one of them is chosen";
        error_code const code = codes[0].failed() ? codes[0] : codes[1];
        EXPECT_EQ(postgres::state_of(code), "40P01");
        expect_conflict(code);
    });
}

/// Reads on a standby, while the primary changes the table.
asio::awaitable<void> hold_table(connection& db) {
    co_await db.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    co_await db.query("SELECT sum(balance) FROM account");
}

/// Throws std::runtime_error if the standby has not replayed it after a minute.
asio::awaitable<void> wait_until_replayed(connection& on_standby, std::string column) {
    std::string const sql = "SELECT 1 FROM pg_attribute WHERE attname = '" + column + "'";
    auto const end = std::chrono::steady_clock::now() + 1min;
    while ((co_await on_standby.query(sql)).rows.empty())
        if (std::chrono::steady_clock::now() > end)
            throw std::runtime_error("after a minute the standby has no column " + column);
}

TEST_F(sqlstates, a_conflict_on_a_standby_may_end_the_connection_and_the_next_attempt_needs_another) {
    postgres_process const standby(postgres_program, *server);
    run([&]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        connection idle(executor), busy(executor), looking(executor);
        for (connection* const each : {&idle, &busy, &looking})
            co_await each->open(standby.address());

        co_await hold_table(idle);
        ask("ALTER TABLE account ADD COLUMN one integer");
        co_await wait_until_replayed(looking, "one"); // who was in the way is gone
        error_code const fatal = co_await failure_of(idle.query("SELECT 1"));
        expect(fatal, "40001", {failure_kind::transient, effect::possible});
        expect_conflict(fatal);
        EXPECT_FALSE(idle.is_usable()) << "the server has ended the connection";

        co_await hold_table(busy);
        std::optional<error_code> code;
        asio::co_spawn(executor, failure_of(busy.query("SELECT pg_sleep(20)")),
                       [&](std::exception_ptr, error_code ec) { code = ec; });
        ask("ALTER TABLE account ADD COLUMN two integer");
        while (!code)
            co_await looking.query("SELECT 1");
        expect_conflict(*code);
        EXPECT_TRUE(busy.is_usable()) << "the same code, and the connection lives";
    });
}

TEST_F(sqlstates, an_operation_opens_another_connection_after_a_conflict_that_was_fatal) {
    postgres_process const standby(postgres_program, *server);
    int retries = 0, connections = 0;
    std::string total;
    run([&]() -> asio::awaitable<void> {
        connection db(co_await asio::this_coro::executor), looking(co_await asio::this_coro::executor);
        co_await looking.open(standby.address());
        auto const report = [&](attempt attempt) -> asio::awaitable<void> {
            if (!db.is_usable()) {
                co_await db.open(standby.address());
                ++connections;
            }
            if (db.is_in_transaction())
                co_await db.query("ROLLBACK");
            co_await hold_table(db);
            if (attempt.number == 1) {
                ask("ALTER TABLE account ADD COLUMN one integer");
                co_await wait_until_replayed(looking, "one");
            }
            total = (co_await db.query("SELECT sum(balance) FROM account")).rows.at(0).at(0);
            co_await db.query("COMMIT");
        };
        co_await async_retry(report,
                             postgres::patient().conflicts.on_retry([&](retry_event const&) { ++retries; }));
    });
    EXPECT_EQ(retries, 1);
    EXPECT_EQ(connections, 2);
    EXPECT_EQ(total, std::to_string(accounts * 1'000'000));
}

TEST_F(sqlstates, a_terminated_connection_is_an_outage) {
    run([]() -> asio::awaitable<void> {
        connection db(co_await asio::this_coro::executor);
        co_await db.open(server->address());
        auto const pid = (co_await db.query("SELECT pg_backend_pid()")).rows.at(0).at(0);
        error_code const code = co_await failure_of(db.query("SELECT pg_terminate_backend(" + pid + ")"));
        expect(code, "57P01", {failure_kind::transient, effect::possible});
        expect_unavailable(code);
        error_code const next = co_await failure_of(db.query("SELECT 1"));
        expect_unavailable(next);
        EXPECT_FALSE(db.is_usable());
        co_await db.open(server->address());
        EXPECT_TRUE(db.is_usable());
    });
}

TEST_F(sqlstates, a_server_that_crashes_is_an_outage) {
    run([]() -> asio::awaitable<void> {
        connection one(co_await asio::this_coro::executor), other(co_await asio::this_coro::executor);
        co_await one.open(server->address());
        co_await other.open(server->address());
        auto const pid = (co_await one.query("SELECT pg_backend_pid()")).rows.at(0).at(0);
        ::kill(static_cast<pid_t>(std::stol(pid)), SIGKILL);
        error_code const killed = co_await failure_of(one.query("SELECT pg_sleep(20)"));
        expect(killed, "08006", {failure_kind::transient, effect::possible});
        expect_unavailable(killed);
        error_code const beside = co_await failure_of(other.query("SELECT pg_sleep(20)"));
        expect_unavailable(beside);
    });
}

TEST_F(sqlstates, a_server_that_is_shut_down_and_one_that_is_not_there_are_an_outage) {
    run([]() -> asio::awaitable<void> {
        connection held(co_await asio::this_coro::executor), late(co_await asio::this_coro::executor);
        co_await held.open(server->address());
        server->send(SIGTERM); // it waits for its clients
        error_code code;
        while (!code)
            code = co_await failure_of(late.open(server->address()));
        expect(code, "57P03", {failure_kind::transient, effect::none});
        expect_unavailable(code);
        held.close();
        server->wait();
        error_code const gone = co_await failure_of(late.open(server->address()));
        expect(gone, "08001", {failure_kind::transient, effect::none});
        expect_unavailable(gone);
    });
    server->start();
}

TEST_F(sqlstates, too_many_clients_are_an_outage) {
    run([]() -> asio::awaitable<void> {
        std::list<connection> all;
        error_code code;
        while (!code) {
            all.emplace_back(co_await asio::this_coro::executor);
            code = co_await failure_of(all.back().open(server->address()));
        }
        EXPECT_EQ(postgres::state_of(code), "53300");
        EXPECT_EQ(classify(code).effect, effect::none);
        expect_unavailable(code);
    });
}

TEST_F(sqlstates, what_took_too_long_is_a_timeout) {
    run([]() -> asio::awaitable<void> {
        connection db(co_await asio::this_coro::executor);
        co_await db.open(server->address());
        co_await db.query("SET statement_timeout = 1");
        error_code const code = co_await failure_of(db.query("SELECT pg_sleep(20)"));
        expect(code, "57014", {failure_kind::timeout, effect::possible});
        EXPECT_FALSE(code == sql_condition::unavailable);
    });
}

TEST_F(sqlstates, what_is_wrong_stays_wrong) {
    run([]() -> asio::awaitable<void> {
        connection db(co_await asio::this_coro::executor);
        co_await db.open(server->address());
        error_code const syntax = co_await failure_of(db.query("SELEKT 1"));
        expect_permanent(syntax, "42601");
        error_code const table = co_await failure_of(db.query("SELECT * FROM nothing"));
        expect_permanent(table, "42P01");
        co_await db.query("INSERT INTO transfer VALUES ('a', 1)");
        error_code const key = co_await failure_of(db.query("INSERT INTO transfer VALUES ('a', 1)"));
        expect_permanent(key, "23505");
        error_code const poor = co_await failure_of(db.query("UPDATE account SET balance = -1 WHERE id = 1"));
        expect_permanent(poor, "23514");
        error_code const where = co_await failure_of(db.open(server->address() + " dbname=nothing"));
        expect_permanent(where, "3D000");
        EXPECT_EQ(postgres::state_of(postgres::make_sqlstate("4000")), "XX000");
        EXPECT_EQ(postgres::state_of(postgres::make_sqlstate("4000a")), "XX000");
        EXPECT_FALSE(postgres::make_sqlstate("00000").failed());
    });
}

TEST_F(sqlstates, other_codes_are_in_neither_group) {
    for (char const* const state : {"40001", "40P01"})
        expect_conflict(postgres::make_sqlstate(state));
    for (char const* const state : {"08000", "08001", "08003", "08006", "57P01", "57P02", "57P03", "53300"})
        expect_unavailable(postgres::make_sqlstate(state));
    for (char const* const state : {"40003", "40002", "57014", "57P04", "53200", "23505", "XX000"}) {
        EXPECT_FALSE(postgres::make_sqlstate(state) == sql_condition::conflict) << state;
        EXPECT_FALSE(postgres::make_sqlstate(state) == sql_condition::unavailable) << state;
    }
    EXPECT_FALSE(error_code(asio::error::eof) == sql_condition::unavailable);
}

// --- transfers

class transfers : public postgres_test {
protected:
    struct outcome {
        std::atomic<std::int64_t> acknowledged = 0, found = 0, conflicts = 0, outages = 0, slow = 0;
    };

    void TearDown() override { EXPECT_EQ(money(), accounts * 1'000'000); }

    void forget_that_keys_are_unique() { ask("ALTER TABLE transfer DROP CONSTRAINT transfer_pkey"); }

    static asio::awaitable<void> work(int worker, outcome& so_far, std::atomic<bool> const& is_enough) {
        auto policies = postgres::patient();
        policies.conflicts = policies.conflicts.on_retry([&](retry_event const&) { ++so_far.conflicts; });
        policies.outages = policies.outages.on_retry([&](retry_event const& event) {
            ++so_far.outages;
            so_far.slow += event.error == asio::error::timed_out;
        });
        postgres::teller teller(co_await asio::this_coro::executor, behind_relay(), policies);
        random dice(seed_of_the_test, static_cast<std::uint64_t>(worker));
        for (int i = 0; !is_enough; ++i) {
            postgres::transfer const what{.key = std::to_string(worker) + '-' + std::to_string(i),
                                          .from = static_cast<int>(dice.uniform(1, accounts)),
                                          .to = static_cast<int>(dice.uniform(1, accounts)),
                                          .amount = static_cast<std::int64_t>(dice.uniform(1, 5))};
            receipt const got = co_await teller.carry_out(what);
            ++so_far.acknowledged;
            so_far.found += got == receipt::found;
        }
    }

    /// 24 workers on two threads, while the server comes and goes, until it has come back and `look` says
    /// enough.
    void work_through_outages(outcome& so_far, std::function<bool(int outages)> const& look) {
        asio::io_context io;
        std::atomic<bool> is_enough = false;
        for (int i = 0; i != 24; ++i)
            asio::co_spawn(asio::make_strand(io), work(i, so_far, is_enough),
                           [](std::exception_ptr e) { EXPECT_NO_THROW(rethrow(e)) << "a transfer failed"; });
        std::array<std::thread, 2> threads;
        for (std::thread& thread : threads)
            thread = std::thread([&] { io.run(); });
        random dice(seed_of_the_test);
        for (int outages = 0; !look(outages); ++outages) {
            std::this_thread::sleep_for(dice.uniform(duration(200ms), duration(800ms)));
            server->end(dice.uniform(0, 1) == 0 ? SIGQUIT : SIGKILL); // an immediate shutdown, or not even that
            std::this_thread::sleep_for(dice.uniform(duration(0ms), duration(400ms)));
            server->start();
        }
        is_enough = true;
        for (std::thread& thread : threads)
            thread.join();
    }

    receipt carry_out(postgres::transfer const& what) {
        std::optional<receipt> got;
        run([&]() -> asio::awaitable<void> {
            postgres::teller teller(co_await asio::this_coro::executor, behind_relay());
            got = co_await teller.carry_out(what);
        });
        return got.value();
    }

    static std::string behind_relay() { return postgres_process::address(server->folder() / "relay"); }

    static std::filesystem::path relay_socket() {
        auto const folder = server->folder() / "relay";
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        return folder / postgres_process::socket_name;
    }

    cutting_relay relay{relay_socket(), server->folder() / postgres_process::socket_name, "COMMIT",
                        seed_of_the_test};
};

constexpr auto ten_euros = [] { return postgres::transfer{.key = "rent", .from = 1, .to = 2, .amount = 10}; };

TEST_F(transfers, a_lost_answer_to_COMMIT_is_settled_by_the_key) {
    relay.cut_next();
    EXPECT_EQ(carry_out(ten_euros()), receipt::found);
    EXPECT_EQ(relay.cut(), 1u);
    EXPECT_EQ(balance(1), 1'000'000 - 10);
    EXPECT_EQ(balance(2), 1'000'000 + 10);
    EXPECT_EQ(rows(), 1);
}

TEST_F(transfers, without_a_key_a_lost_answer_to_COMMIT_costs_twice) {
    forget_that_keys_are_unique();
    relay.cut_next();
    EXPECT_EQ(carry_out(ten_euros()), receipt::done);
    EXPECT_EQ(relay.cut(), 1u);
    EXPECT_EQ(balance(1), 1'000'000 - 20);
    EXPECT_EQ(rows(), 2);
}

/// Until a statement on another connection waits for a lock.
asio::awaitable<void> wait_until_one_waits(connection& db) {
    for (bool waits = false; !waits;) {
        auto const found = co_await db.query("SELECT 1 FROM pg_locks WHERE NOT granted");
        waits = !found.rows.empty();
    }
}

TEST_F(transfers, a_key_that_is_just_being_committed_is_found) {
    int conflicts = 0;
    run([&]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        connection before(executor), looking(executor);
        co_await before.open(server->address());
        co_await looking.open(server->address());
        co_await before.query("BEGIN ISOLATION LEVEL SERIALIZABLE");
        co_await before.query("INSERT INTO transfer VALUES ('rent', 10)");
        auto policies = postgres::patient();
        policies.conflicts = policies.conflicts.on_retry([&](retry_event const&) { ++conflicts; });
        postgres::teller teller(executor, behind_relay(), policies);
        std::optional<receipt> got;
        asio::co_spawn(executor, teller.carry_out(ten_euros()), [&](std::exception_ptr e, receipt r) {
            rethrow(e);
            got = r;
        });
        co_await wait_until_one_waits(looking);
        co_await before.query("COMMIT");
        while (!got)
            co_await looking.query("SELECT 1");
        EXPECT_EQ(*got, receipt::found);
    });
    EXPECT_EQ(conflicts, 1);
    EXPECT_EQ(balance(1), 1'000'000);
}

TEST_F(transfers, an_attempt_that_took_too_long_leaves_its_connection_and_the_next_has_a_new_one) {
    std::vector<error_code> failures;
    run([&]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        connection slow(executor), looking(executor);
        co_await slow.open(server->address());
        co_await looking.open(server->address());
        co_await slow.query("BEGIN");
        co_await slow.query("UPDATE account SET balance = balance WHERE id = 1");
        auto policies = postgres::patient();
        policies.outages = policies.outages.attempt_timeout(300ms).on_retry(
            [&](retry_event const& event) { failures.push_back(event.error); });
        postgres::teller teller(executor, behind_relay(), policies);
        std::optional<receipt> got;
        asio::co_spawn(executor, teller.carry_out(ten_euros()), [&](std::exception_ptr e, receipt r) {
            rethrow(e);
            got = r;
        });
        while (failures.empty())
            co_await looking.query("SELECT 1");
        co_await slow.query("ROLLBACK");
        while (!got)
            co_await looking.query("SELECT 1");
    });
    EXPECT_EQ(failures.at(0), asio::error::timed_out);
    EXPECT_EQ(balance(1), 1'000'000 - 10);
    EXPECT_EQ(rows(), 1);
}

TEST_F(transfers, what_is_wrong_is_not_tried_again_and_the_teller_goes_on) {
    run([]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        auto policies = postgres::patient();
        int retries = 0;
        policies.conflicts = policies.conflicts.on_retry([&](retry_event const&) { ++retries; });
        policies.outages = policies.outages.on_retry([&](retry_event const&) { ++retries; });
        postgres::teller teller(executor, behind_relay(), policies);
        postgres::transfer const too_much{.key = "house", .from = 1, .to = 2, .amount = 1'000'001};
        error_code const code = co_await failure_of(teller.carry_out(too_much));
        EXPECT_EQ(postgres::state_of(code), "23514");
        EXPECT_EQ(retries, 0);
        receipt const got = co_await teller.carry_out(ten_euros());
        EXPECT_EQ(got, receipt::done);
    });
    EXPECT_EQ(rows(), 1);
}

TEST_F(transfers, are_done_once_each_while_the_server_comes_and_goes) {
    relay.cut_one_in(50);
    outcome total;
    work_through_outages(total, [](int outages) { return outages == 6; });
    EXPECT_EQ(rows(), total.acknowledged);
    EXPECT_EQ(keys(), total.acknowledged);
    EXPECT_GT(total.conflicts, 0);
    EXPECT_GT(total.outages, 0);
    std::cout << total.acknowledged << " transfers, " << total.conflicts << " conflicts, " << total.outages
              << " failures of the connection, " << relay.cut() << " answers withheld, " << total.found
              << " transfers found done, " << total.slow << " attempts that took too long\n";
}

TEST_F(transfers, are_done_twice_sooner_or_later_without_a_key) {
    forget_that_keys_are_unique();
    relay.cut_one_in(50);
    outcome total;
    auto const end = std::chrono::steady_clock::now() + 20s;
    work_through_outages(total,
                         [&](int) { return duplicates() != 0 || std::chrono::steady_clock::now() > end; });
    EXPECT_GT(duplicates(), 0);
    EXPECT_EQ(keys(), total.acknowledged);
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc < 2 || !asio_retry::test::postgres_process::is_runnable(argv[1])) {
        std::cout
            << "skipped: there is no PostgreSQL that can be run here; ./cmake/bootstrap.sh install-services "
               "gets it\n";
        return 77;
    }
    asio_retry::test::postgres_program = argv[1];
    return RUN_ALL_TESTS();
}
