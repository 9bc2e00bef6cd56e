# Compares what a header makes the compiler read, in lines after preprocessing, with what was promised:
# async_retry.hpp at most 0.80 of boost/asio.hpp, a policy header at most 80 000. Line markers do not count.
cmake_minimum_required(VERSION 3.25)

set(folders)
foreach(folder IN LISTS INCLUDES)
    list(APPEND folders -I${folder})
endforeach()

function(count_lines header result)
    set(source ${WORK_DIR}/preprocessed_lines.cpp)
    file(WRITE ${source} "#include <${header}>\n")
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

count_lines(boost/asio.hpp all_of_asio)
math(EXPR most "${all_of_asio} * 80 / 100")
count_lines(asio_retry/async_retry.hpp async_retry)
check(async_retry ${async_retry} ${most})

# retry_machine has all the others, but the report.
foreach(name policy_json policy_text profiles retry_machine retry_policy retry_report)
    count_lines(asio_retry/${name}.hpp lines)
    check(${name} ${lines} 80000)
endforeach()
if(failures)
    message(FATAL_ERROR "too many lines: ${failures}")
endif()
