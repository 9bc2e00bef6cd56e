# Counts the instructions of each workload per operation, under callgrind, and compares them with their ceilings:
#
#   cmake -D PROGRAM=build/bench/test/bench/guard/instructions -D VALGRIND=valgrind -P test/bench/guard/guard.cmake
cmake_minimum_required(VERSION 3.25)

set(exceeded)

function(count workload)
    execute_process(
        COMMAND ${VALGRIND} --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no
            --toggle-collect=measured_work ${PROGRAM} ${workload}
        OUTPUT_VARIABLE operations ERROR_VARIABLE log RESULT_VARIABLE status)
    if(NOT status EQUAL 0 OR NOT log MATCHES "Collected : ([0-9]+)")
        message(FATAL_ERROR "${workload}: cannot be counted\n${log}")
    endif()
    math(EXPR per_operation "${CMAKE_MATCH_1} / ${operations}")
    set(${workload} ${per_operation} PARENT_SCOPE)
endfunction()

function(check what found most)
    if(found GREATER most)
        set(verdict "MORE THAN")
        set(exceeded ${exceeded} ${what} PARENT_SCOPE)
    else()
        set(verdict "of at most")
    endif()
    message(STATUS "${what}: ${found} instructions ${verdict} ${most}")
endfunction()

# --- what an operation costs

function(ceiling workload most)
    count(${workload})
    check(${workload} ${${workload}} ${most})
    set(exceeded ${exceeded} PARENT_SCOPE)
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/ceilings.cmake)
foreach(reference bare_callback first_try_limited_by_hand first_try_limited_strand_by_hand)
    count(${reference})
    message(STATUS "${reference}: ${${reference}} instructions, and nobody retries")
endforeach()

# --- that a hedge that is not needed costs little more than a time limit

count(first_try_hedged)
count(first_try_limited_callback)
math(EXPR most "${first_try_limited_callback} * 3 / 2")
check(first_try_hedged ${first_try_hedged} ${most})

# --- that a wait costs the same however many there are

foreach(size 1k 100k 1m)
    count(schedule_and_cancel_${size})
endforeach()
math(EXPR most "${schedule_and_cancel_1k} * 11 / 10")
foreach(size 1k 100k 1m)
    check(schedule_and_cancel_${size} ${schedule_and_cancel_${size}} ${most})
endforeach()

if(exceeded)
    message(FATAL_ERROR "more instructions than recorded: ${exceeded}")
endif()
