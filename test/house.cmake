cmake_minimum_required(VERSION 3.25)

# The rooms of the house: a file includes only what its own room and the rooms before it offer.
set(policy attempt backoff duration error jitter permanent random number_text policy_arguments policy_builder policy_json policy_parser policy_profiles policy_term policy_terms policy_text profile_table profiles shown_text wide_number
    retry_event retry_gate retry_machine retry_policy retry_report retry_settings
    stop_reason verdict detail/backoff_shapes detail/check detail/config detail/empty_function detail/jitter_course detail/machine_observer detail/report_recorder report_recorder detail/jitter_kinds detail/shared_function detail/shared_value)
set(time context_executor random_streams retry_scheduler scheduled_waits slot_set timer_memory timing_wheel virtual_time wake_up_timer wheel_levels detail/wait_node)
set(operation async_retry backoff_ticker fail_if fresh_connection retry retry_scope retry_waits with_report
    detail/asio detail/attempt_handler detail/attempt_health detail/attempt_runner detail/awaiting_shell
    detail/await_retry detail/awaited_retry detail/awaiting_token detail/blocking_retry detail/completion
    detail/coroutine_attempt detail/coroutine_wait detail/late_value detail/resumption detail/runs_here detail/working_executor
    detail/decide detail/erased_operation detail/thread_waits
    detail/ticker_state detail/ticker_wait
    detail/initiate_retry detail/initiation_frame detail/occupancy
    detail/lazy_scheduler detail/operation_block detail/operation_core detail/operation_executors detail/operation_membership detail/operation_shell detail/operation_state detail/operation_form detail/queued_turn detail/retry_operation detail/scope_membership
    detail/ending_wait detail/handler_join detail/handler_operation detail/scope_join detail/scope_state)
set(rooms policy time operation)

set(allowed)
set(failures 0)
set(known)
foreach(room IN LISTS rooms)
    list(APPEND allowed ${${room}})
    foreach(name IN LISTS ${room})
        list(APPEND known include/asio_retry/${name}.hpp)
        get_filename_component(stem ${name} NAME)
        foreach(file include/asio_retry/${name}.hpp src/${stem}.hpp src/${stem}.cpp)
            if(NOT EXISTS ${SOURCE_DIR}/${file})
                continue()
            endif()
            file(STRINGS ${SOURCE_DIR}/${file} includes REGEX "^#include")
            foreach(line IN LISTS includes)
                if(line MATCHES "<asio_retry/(.*)\\.hpp>" AND NOT CMAKE_MATCH_1 IN_LIST allowed)
                    message(SEND_ERROR "${file} (${room}) must not include ${CMAKE_MATCH_1}")
                    math(EXPR failures "${failures} + 1")
                endif()
                if(room STREQUAL "policy" AND line MATCHES "asio/|asio\\.hpp")
                    message(SEND_ERROR "${file} is policy code and must not include Asio: ${line}")
                    math(EXPR failures "${failures} + 1")
                endif()
                if(line MATCHES "<boost/asio\\.hpp>")
                    message(SEND_ERROR "${file} includes the whole of Asio")
                    math(EXPR failures "${failures} + 1")
                endif()
            endforeach()
        endforeach()
    endforeach()
endforeach()

file(GLOB_RECURSE headers RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/include/*.hpp)
foreach(header IN LISTS headers)
    if(NOT header IN_LIST known)
        message(SEND_ERROR "${header} lives in no room; name its room in test/house.cmake")
        math(EXPR failures "${failures} + 1")
    endif()

    # What is thrown can be caught on the other side of a shared library (decision 45).
    file(STRINGS ${SOURCE_DIR}/${header} exceptions
        REGEX "(class|struct) .*: *(public|virtual)? .*(exception|error|argument|bad_[a-z_]+)\\>? *{")
    foreach(line IN LISTS exceptions)
        if(NOT line MATCHES "ASIO_RETRY_DECL")
            message(SEND_ERROR "${header} has an exception that is not exported: ${line}")
            math(EXPR failures "${failures} + 1")
        endif()
    endforeach()

    # A name of Boost's may be in an inline namespace; detail/asio.hpp is for what its versions do differently.
    file(STRINGS ${SOURCE_DIR}/${header} declarations REGEX "^namespace boost::asio")
    if(declarations AND NOT header MATCHES "detail/asio\\.hpp$")
        message(SEND_ERROR "${header} declares a name of Asio's: include its header")
        math(EXPR failures "${failures} + 1")
    endif()
endforeach()
if(failures)
    message(FATAL_ERROR "${failures} faults; most often a dependency that runs the wrong way")
endif()
