# The program CASE does not compile, for the reason that its first lines give. That it compiles without its fault is
# without_faults.cmake's to show.
cmake_minimum_required(VERSION 3.25)
file(READ ${CASE} text)
if(NOT text MATCHES "^// expected: ([^\n]+(\n// [^\n]+)*)\n#")
    message(FATAL_ERROR "${CASE} does not begin with what is expected")
endif()
string(REPLACE "\n// " " " expected "${CMAKE_MATCH_1}")

set(ENV{LC_ALL} C)
execute_process(COMMAND ${COMPILER} @${FLAGS} -include ${HEADERS} -fsyntax-only -fdiagnostics-color=never ${CASE}
    ERROR_VARIABLE complaint RESULT_VARIABLE status)
if(status EQUAL 0)
    message(FATAL_ERROR "${CASE} compiles")
endif()
string(REGEX MATCH "[^\n]*error: [^\n]*" first_error "${complaint}")
string(FIND "${first_error}" "${expected}" position)
if(position EQUAL -1)
    message(FATAL_ERROR "expected first:\n${expected}\nthe compiler says:\n${complaint}")
endif()
