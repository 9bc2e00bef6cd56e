#include "policy/mysql_codes.hpp"

namespace asio_retry::detail {
namespace {

constexpr failure_class undone{failure_kind::transient, effect::none};
constexpr failure_class cut_off{failure_kind::transient, effect::possible};
constexpr failure_class took_too_long{failure_kind::timeout, effect::possible};
constexpr failure_class too_much_to_do{failure_kind::overloaded, effect::none};
constexpr failure_class answered{failure_kind::permanent, effect::possible};

/// For errors that undo only the statement. The transaction stays open, except perhaps at COMMIT: the START
/// TRANSACTION of the next attempt would commit what came before the statement (MySQL Reference Manual, "InnoDB
/// Error Handling").
constexpr failure_class still_open{failure_kind::transient, effect::possible};

/// Errors that MySQL and MariaDB share. Those without an effect come before a transaction has written, or undo
/// all of it.
failure_class classify_common(int value) noexcept {
    switch (value) {
    case 1021: // ER_DISK_FULL
    case 1037: // ER_OUTOFMEMORY
    case 1038: // ER_OUT_OF_SORTMEMORY
    case 1041: // ER_OUT_OF_RESOURCES
        return {failure_kind::overloaded, still_open.effect};
    case 1040: // ER_CON_COUNT_ERROR: too many connections
    case 1135: // ER_CANT_CREATE_THREAD
    case 1203: // ER_TOO_MANY_USER_CONNECTIONS
    case 1206: // ER_LOCK_TABLE_FULL
    case 1637: // ER_TOO_MANY_CONCURRENT_TRXS
        return too_much_to_do;
    case 1226: // ER_USER_LIMIT_REACHED: so many queries an hour
        return {failure_kind::throttled, still_open.effect};
    case 1205: // ER_LOCK_WAIT_TIMEOUT
    case 1290: // ER_OPTION_PREVENTS_STATEMENT: --read-only, as on a former primary
    case 1412: // ER_TABLE_DEF_CHANGED
    case 1615: // ER_NEED_REPREPARE
    case 1689: // ER_LOCK_ABORTED
    case 1836: // ER_READ_ONLY_MODE
        return still_open;
    case 1020: // ER_CHECKREAD: another transaction has changed the row
    case 1047: // ER_UNKNOWN_COM_ERROR: a node of Galera is not ready
    case 1213: // ER_LOCK_DEADLOCK: the transaction was undone
    case 1613: // ER_XA_RBTIMEOUT
    case 1614: // ER_XA_RBDEADLOCK
        return undone;
    case 1043: // ER_HANDSHAKE_ERROR
    case 1053: // ER_SERVER_SHUTDOWN
    case 1077: // ER_NORMAL_SHUTDOWN
    case 1079: // ER_SHUTDOWN_COMPLETE
    case 1080: // ER_FORCING_CLOSE
    case 1152: // ER_ABORTING_CONNECTION
    case 1158: // ER_NET_READ_ERROR
    case 1159: // ER_NET_READ_INTERRUPTED
    case 1160: // ER_NET_ERROR_ON_WRITE
    case 1161: // ER_NET_WRITE_INTERRUPTED
    case 1184: // ER_NEW_ABORTING_CONNECTION
        return cut_off;
    case 1317: // ER_QUERY_INTERRUPTED
        return took_too_long;
    }
    return answered;
}

/// MariaDB's own errors.
failure_class classify_mariadb(int value) noexcept {
    switch (value) {
    case 1927: // ER_CONNECTION_KILLED
        return cut_off;
    case 1969: // ER_STATEMENT_TIMEOUT
        return took_too_long;
    }
    return answered;
}

/// MySQL's own errors.
failure_class classify_oracle(int value) noexcept {
    switch (value) {
    case 3024: // ER_QUERY_TIMEOUT
        return took_too_long;
    case 3032: // ER_SERVER_OFFLINE_MODE
    case 3101: // ER_TRANSACTION_ROLLBACK_DURING_COMMIT
        return undone;
    case 3058: // ER_USER_LOCK_DEADLOCK
    case 3572: // ER_LOCK_NOWAIT
        return still_open;
    case 3169: // ER_SESSION_WAS_KILLED
    case 4031: // ER_CLIENT_INTERACTION_TIMEOUT
        return cut_off;
    }
    return answered;
}

/// The enumeration client_errc of Boost 1.88.
failure_class classify_client(int value) noexcept {
    switch (value) {
    case 1: // incomplete_message
    case 5: // sequence_number_mismatch: what a cancelled operation leaves behind
        return cut_off;
    case 16: // no_connection_available: the server is away, or all connections are in use
    case 27: // not_connected
        return undone;
    }
    return answered;
}

} // namespace

std::optional<failure_class> classify_mysql(std::string_view category, int value) noexcept {
    if (!category.starts_with("mysql."))
        return std::nullopt;
    category.remove_prefix(6);
    if (category == "common-server")
        return classify_common(value);
    if (category == "mariadb-server")
        return classify_mariadb(value);
    if (category == "mysql-server")
        return classify_oracle(value);
    if (category == "client")
        return classify_client(value);
    return std::nullopt;
}

} // namespace asio_retry::detail
