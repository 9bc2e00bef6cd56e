# Compares what a policy header makes the compiler read, in lines after preprocessing, with the headers that it rests on:
# at most 1.10 of them. The same compiler reads both, because standard libraries differ by a quarter. Line markers do not
# count. What async_retry.hpp brings is counted by bench/first_call.sh.
cmake_minimum_required(VERSION 3.25)

set(folders)
foreach(folder IN LISTS INCLUDES)
    list(APPEND folders -I${folder})
endforeach()

# count_lines(RESULT HEADER...)
function(count_lines result)
    set(source ${WORK_DIR}/preprocessed_lines.cpp)
    list(TRANSFORM ARGN REPLACE ".+" "#include <\\0>\n" OUTPUT_VARIABLE includes)
    string(JOIN "" includes ${includes})
    file(WRITE ${source} "${includes}")
    execute_process(COMMAND ${CXX_COMPILER} -std=c++20 ${folders} -E -P ${source} -o ${source}.i
        COMMAND_ERROR_IS_FATAL ANY)
    file(READ ${source}.i text)
    string(REGEX MATCHALL "\n" lines "${text}")
    list(LENGTH lines count)
    set(${result} ${count} PARENT_SCOPE)
endfunction()

set(failures)
function(check what found most)
    message(STATUS "${what}: ${found} lines, at most ${most}")
    if(found GREATER most)
        set(failures ${failures} ${what} PARENT_SCOPE)
    endif()
endfunction()

# retry_machine has all the others, but the report.
count_lines(foundation boost/system/error_code.hpp chrono functional memory ranges string variant vector)
math(EXPR most "${foundation} * 110 / 100")
foreach(name policy_json policy_text profiles retry_machine retry_policy retry_report)
    count_lines(lines asio_retry/${name}.hpp)
    check(${name} ${lines} ${most})
endforeach()
if(failures)
    message(FATAL_ERROR "too many lines: ${failures}")
endif()
