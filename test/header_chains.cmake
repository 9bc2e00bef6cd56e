# Writes FOLDER/chain_N.cpp for N from 1 to COUNT: together they show that each header of INCLUDES compiles alone. A file
# has a chain of headers, each of which includes the one before it, be it by way of others: so before a header there
# is nothing but what it includes itself, and each of that is shown to compile alone too.
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE headers RELATIVE ${INCLUDES} ${INCLUDES}/*.hpp)
list(FILTER headers EXCLUDE REGEX "/grpc[./]") # which need gRPC; test/integration/grpc_hedge.cpp includes grpc.hpp first

# Sets all_of_HEADER: itself and what it includes, be it by way of others.
function(find_all_of header)
    if(DEFINED all_of_${header})
        return()
    endif()
    set(all ${header})
    file(STRINGS ${INCLUDES}/${header} lines REGEX "^#include <asio_retry/")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^#include <(.*)>.*$" "\\1" included "${line}")
        find_all_of(${included})
        list(APPEND all ${all_of_${included}})
        set(all_of_${included} "${all_of_${included}}" PARENT_SCOPE)
    endforeach()
    list(REMOVE_DUPLICATES all)
    set(all_of_${header} "${all}" PARENT_SCOPE)
endfunction()

set(by_size)
foreach(header IN LISTS headers)
    find_all_of(${header})
    list(LENGTH all_of_${header} size)
    math(EXPR size "${size} + 1000")
    list(APPEND by_size "${size} ${header}")
endforeach()
list(SORT by_size)

# Each goes behind the greatest that it includes and that has nothing behind it.
set(ends)
foreach(entry IN LISTS by_size)
    string(REGEX REPLACE "^[0-9]+ " "" header "${entry}")
    set(before)
    foreach(end IN LISTS ends) # the greatest is the last
        if(end IN_LIST all_of_${header})
            set(before ${end})
        endif()
    endforeach()
    set(chain_to_${header} ${chain_to_${before}} ${header})
    list(REMOVE_ITEM ends "${before}")
    list(APPEND ends ${header})
endforeach()

list(LENGTH ends count)
if(count LESS 2 OR count GREATER COUNT)
    message(FATAL_ERROR "${count} chains of headers: test/CMakeLists.txt expects at most ${COUNT}")
endif()
foreach(number RANGE 1 ${COUNT})
    set(text "// The other chains are enough.\n")
    if(ends)
        list(POP_BACK ends end) # what takes longest is begun first
        list(TRANSFORM chain_to_${end} REPLACE ".+" "#include <\\0>\n" OUTPUT_VARIABLE lines)
        string(JOIN "" text ${lines})
    endif()
    set(file ${FOLDER}/chain_${number}.cpp)
    set(old)
    if(EXISTS ${file})
        file(READ ${file} old)
    endif()
    if(NOT old STREQUAL text)
        file(WRITE ${file} "${text}")
    endif()
endforeach()
