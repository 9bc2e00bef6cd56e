# The program CASE does not compile, for the reason that its first lines give. "expected alone": the compiler complains
# of nothing else; "expected at once": the sentence is within the first three lines of all that the compiler says, of
# at most 15; "shown": what it shows of the sources too. That it compiles without its fault is without_faults.cmake's to
# show.
cmake_minimum_required(VERSION 3.25)
file(READ ${CASE} text)
if(NOT text MATCHES "^(// shown: ([^\n]+)\n)?// expected( alone| at once)?: ([^\n]+(\n// [^\n]+)*)\n#")
    message(FATAL_ERROR "${CASE} does not begin with what is expected")
endif()
set(shown "${CMAKE_MATCH_2}")
set(how "${CMAKE_MATCH_3}")
string(REPLACE "\n// " " " expected "${CMAKE_MATCH_4}")

# After that the compiler would only go through what is left of the headers.
set(options -include ${HEADERS} -ferror-limit=1)
if(COMPILER_ID STREQUAL "GNU")
    set(options -include ${HEADERS} -fmax-errors=1)
endif()
if(how STREQUAL " alone")
    list(TRANSFORM options REPLACE "=1$" "=2")
elseif(how STREQUAL " at once")
    set(options) # as a user compiles it
endif()
set(ENV{LC_ALL} C)
execute_process(COMMAND ${COMPILER} @${FLAGS} -fsyntax-only -fdiagnostics-color=never ${options} ${CASE}
    ERROR_VARIABLE complaint RESULT_VARIABLE status)
if(status EQUAL 0)
    message(FATAL_ERROR "${CASE} compiles")
endif()
string(REGEX MATCH "[^\n]*error: [^\n]*" first_error "${complaint}")
string(FIND "${first_error}" "${expected}" position)
if(position EQUAL -1)
    message(FATAL_ERROR "expected first:\n${expected}\nthe compiler says:\n${complaint}")
endif()
string(REGEX MATCHALL "\n[^\n]*error: " errors "\n${complaint}")
list(LENGTH errors count)
if(how STREQUAL " alone" AND NOT count EQUAL 1)
    message(FATAL_ERROR "expected alone:\n${expected}\nthe compiler says:\n${complaint}")
endif()
string(FIND "${complaint}" "${shown}" position)
if(position EQUAL -1)
    message(FATAL_ERROR "expected to be shown:\n${shown}\nthe compiler says:\n${complaint}")
endif()

if(how STREQUAL " at once")
    string(REGEX MATCH "^[^\n]*\n?[^\n]*\n?[^\n]*" first_lines "${complaint}")
    string(FIND "${first_lines}" "${expected}" position)
    string(REGEX MATCHALL "\n" ends "${complaint}")
    list(LENGTH ends lines)
    if(position EQUAL -1 OR lines GREATER 15)
        message(FATAL_ERROR "expected within the first 3 of at most 15 lines:\n${expected}\n"
            "the compiler says, in ${lines} lines:\n${complaint}")
    endif()
endif()
