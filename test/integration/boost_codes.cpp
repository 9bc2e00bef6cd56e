#include <asio_retry/failure_class.hpp>

#include <boost/mqtt5/error.hpp>
#include <boost/mqtt5/reason_codes.hpp>
#include <boost/mysql/client_errc.hpp>
#include <boost/mysql/common_server_errc.hpp>
#include <boost/mysql/error_categories.hpp>
#include <boost/mysql/mariadb_server_errc.hpp>
#include <boost/mysql/mysql_server_errc.hpp>

#include <gtest/gtest.h>

#include <initializer_list>

// The library includes neither Boost.MySQL nor Boost.MQTT5, and knows their codes by number: these are their
// own.

namespace asio_retry::test {
namespace {

namespace mysql = boost::mysql;
namespace mqtt5 = boost::mqtt5;
using client = mysql::client_errc;
using common = mysql::common_server_errc;

constexpr failure_class not_carried_out{failure_kind::transient, effect::none};
constexpr failure_class cut_off_meanwhile{failure_kind::transient, effect::possible};
constexpr failure_class too_late{failure_kind::timeout, effect::possible};
constexpr failure_class overburdened{failure_kind::overloaded, effect::none};
constexpr failure_class slowed_down{failure_kind::throttled, effect::none};
constexpr failure_class no_use{failure_kind::permanent, effect::possible};

void expect_class(failure_class what, std::initializer_list<error_code> codes) {
    for (error_code const& code : codes) {
        EXPECT_EQ(classify(code).kind, what.kind) << code << ' ' << code.message();
        EXPECT_EQ(classify(code).effect, what.effect) << code << ' ' << code.message();
    }
}

error_code of_mariadb(int value) {
    return error_code(value, mysql::get_mariadb_server_category());
}
error_code of_mysql(int value) {
    return error_code(value, mysql::get_mysql_server_category());
}

TEST(boost_codes, decision_54_of_mysql_have_these_numbers) {
    expect_class({failure_kind::overloaded, effect::possible},
                 {common::er_disk_full, common::er_outofmemory, common::er_out_of_sortmemory,
                  common::er_out_of_resources});
    expect_class(overburdened, {common::er_con_count_error, common::er_cant_create_thread,
                                common::er_too_many_user_connections, common::er_lock_table_full,
                                common::er_too_many_concurrent_trxs});
    expect_class({failure_kind::throttled, effect::possible}, {common::er_user_limit_reached});
    expect_class(cut_off_meanwhile,
                 {common::er_lock_wait_timeout, common::er_table_def_changed, common::er_need_reprepare,
                  common::er_lock_aborted, common::er_option_prevents_statement, common::er_read_only_mode});
    expect_class(not_carried_out, {common::er_checkread, common::er_unknown_com_error, common::er_lock_deadlock,
                                   common::er_xa_rbtimeout, common::er_xa_rbdeadlock});
    expect_class(cut_off_meanwhile,
                 {common::er_handshake_error, common::er_server_shutdown, common::er_normal_shutdown,
                  common::er_shutdown_complete, common::er_forcing_close, common::er_aborting_connection,
                  common::er_net_read_error, common::er_net_read_interrupted, common::er_net_error_on_write,
                  common::er_net_write_interrupted, common::er_new_aborting_connection});
    expect_class(too_late, {common::er_query_interrupted});
    expect_class(no_use, {common::er_access_denied_error, common::er_dbaccess_denied_error,
                          common::er_bad_db_error, common::er_parse_error, common::er_dup_entry,
                          common::er_no_such_table, common::er_host_is_blocked});
}

TEST(boost_codes, decision_54_of_each_server_alone_have_these_numbers) {
    namespace mariadb = mysql::mariadb_server_errc;
    namespace oracle = mysql::mysql_server_errc;
    expect_class(cut_off_meanwhile, {of_mariadb(mariadb::er_connection_killed)});
    expect_class(too_late, {of_mariadb(mariadb::er_statement_timeout)});
    expect_class(no_use, {of_mariadb(4025)}); // a violated constraint
    expect_class(too_late, {of_mysql(oracle::er_query_timeout)});
    expect_class(not_carried_out, {of_mysql(oracle::er_server_offline_mode),
                                   of_mysql(oracle::er_transaction_rollback_during_commit)});
    expect_class(cut_off_meanwhile,
                 {of_mysql(oracle::er_user_lock_deadlock), of_mysql(oracle::er_lock_nowait)});
    expect_class(cut_off_meanwhile,
                 {of_mysql(oracle::er_session_was_killed), of_mysql(oracle::er_client_interaction_timeout)});
    expect_class(no_use, {of_mysql(oracle::er_check_constraint_violated)});
}

TEST(boost_codes, decision_54_of_the_client_of_mysql_have_these_numbers) {
    expect_class(not_carried_out, {client::no_connection_available, client::not_connected});
    expect_class(cut_off_meanwhile, {client::incomplete_message, client::sequence_number_mismatch});
    expect_class(no_use, {client::pool_not_running, client::pool_cancelled, client::protocol_value_error,
                          client::extra_bytes, client::wrong_num_params, client::unknown_auth_plugin,
                          client::operation_in_progress, client::max_buffer_size_exceeded});
}

TEST(boost_codes, decision_54_of_mqtt5_have_these_numbers) {
    using mqtt5::client::error;
    expect_class(cut_off_meanwhile, {error::session_expired});
    expect_class(overburdened, {error::pid_overrun});
    expect_class(no_use,
                 {error::malformed_packet, error::packet_too_large, error::invalid_topic,
                  error::qos_not_supported, error::retain_not_available, error::topic_alias_maximum_reached,
                  error::wildcard_subscription_not_available, error::subscription_identifier_not_available,
                  error::shared_subscription_not_available});

    namespace codes = mqtt5::reason_codes;
    EXPECT_EQ(classify_mqtt(codes::success.value()), failure_class(failure_kind::none, effect::none));
    EXPECT_EQ(classify_mqtt(codes::no_matching_subscribers.value()),
              failure_class(failure_kind::none, effect::none));
    EXPECT_EQ(classify_mqtt(codes::server_busy.value()), overburdened);
    EXPECT_EQ(classify_mqtt(codes::quota_exceeded.value()), slowed_down);
    EXPECT_EQ(classify_mqtt(codes::connection_rate_exceeded.value()), slowed_down);
    EXPECT_EQ(classify_mqtt(codes::server_unavailable.value()), not_carried_out);
    EXPECT_EQ(classify_mqtt(codes::packet_identifier_in_use.value()), not_carried_out);
    EXPECT_EQ(classify_mqtt(codes::use_another_server.value()), not_carried_out);
    EXPECT_EQ(classify_mqtt(codes::server_shutting_down.value()), cut_off_meanwhile);
    EXPECT_EQ(classify_mqtt(codes::keep_alive_timeout.value()), cut_off_meanwhile);
    EXPECT_EQ(classify_mqtt(codes::maximum_connect_time.value()), cut_off_meanwhile);
    for (auto const& final : {codes::bad_username_or_password, codes::not_authorized, codes::banned,
                              codes::client_identifier_not_valid, codes::bad_authentication_method,
                              codes::session_taken_over, codes::server_moved, codes::empty})
        EXPECT_EQ(classify_mqtt(final.value()), no_use) << final.message();
}

} // namespace
} // namespace asio_retry::test
