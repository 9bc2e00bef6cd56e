#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/stop_reason.hpp>

#include <cstdint>

namespace asio_retry {

/// Something that happened to an operation.
struct observation {
    /// What happened.
    enum class kind : unsigned char {
        started,
        attempt_began, ///< it does, unless the observer itself cancels the operation now
        attempt_ended,
        retry_decided, ///< a wait of `delay` follows
        refused,       ///< a gate refused the retry or the attempt
        ended,
    };

    kind what = kind::started;   ///< which of them
    std::uint64_t operation = 0; ///< its number, which no other one in the process has
    std::uint64_t attempt = 0;   ///< the number of the attempt; of those made, when the operation has ended
    time_point now{};            ///< when
    error_code error; ///< the failure's, or the refusal; operation_aborted for an attempt that was abandoned
    failure_kind failure = failure_kind::none;   ///< as a gate hears it; none is a success, and an abandoned
                                                 ///< attempt is `permanent`
    duration took{};                             ///< the attempt, or the operation
    duration delay{};                            ///< of retry_decided
    stop_reason reason = stop_reason::succeeded; ///< of ended
};

/// Is told what happens to the operations of a policy.
///
/// Of each operation it is told one story: started, then any number of attempts, each of which began and ended,
/// and ended. An attempt that was let in and did not begin, because the operation ended first, is not in it. If
/// the observer itself cancels the operation when it hears that an attempt begins, that attempt is not made,
/// and has ended, abandoned. After an attempt that ended there may be refused, of a retry and without an error,
/// and a retry_decided; and then, as before the first attempt, one or more refused: of an attempt, or, where a
/// policy waits when refused, of the retry again. An operation whose memory was short at the start is not told
/// of at all. A `backoff_ticker`, which makes no attempts, is not either.
///
/// Thread safety: called from every thread that runs an operation, without a lock. An override may do anything
/// but throw, and may cancel the operation or start another; one started at every end should be posted, as it
/// may end before `on_event` returns.
class ASIO_RETRY_DECL retry_observer {
public:
    virtual ~retry_observer();
    /// Called for each of them, in their order.
    virtual void on_event(observation const& event) noexcept = 0;
};

} // namespace asio_retry
