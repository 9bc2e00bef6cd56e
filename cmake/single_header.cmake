# Writes the library as one header: cmake [-D OUTPUT=DIRECTORY/asio_retry.hpp] [-D STANDALONE=ON] -P cmake/single_header.cmake
# STANDALONE: that for Asio without Boost. Without OUTPUT it comes into build/single_header.
cmake_minimum_required(VERSION 3.25)
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
include(${root}/standalone/rewrite.cmake)
set(name asio_retry)
if(STANDALONE)
    set(name asio_retry_standalone)
endif()
if(NOT OUTPUT)
    set(OUTPUT ${root}/build/single_header/${name}.hpp)
    message(STATUS "writing ${OUTPUT}")
endif()

function(add_to property text)
    set_property(GLOBAL APPEND_STRING PROPERTY ${property} "${text}")
endfunction()

# Appends what the file defines to the text of a part, behind the library's files that it includes; other includes are
# collected, but for those that depend on a condition, which stay where they are.
function(flatten file part)
    get_property(done GLOBAL PROPERTY done)
    if(file IN_LIST done)
        return()
    endif()
    set_property(GLOBAL APPEND PROPERTY done ${file})

    if(STANDALONE)
        rewrite_for_standalone(${file} rest)
    else()
        file(READ ${file} rest)
    endif()
    set(kept "")
    set(depth 0)
    while(NOT rest STREQUAL "")
        string(FIND "${rest}" "\n" length)
        string(SUBSTRING "${rest}" 0 ${length} line)
        math(EXPR next "${length} + 1")
        string(SUBSTRING "${rest}" ${next} -1 rest)
        if(line MATCHES "^#if")
            math(EXPR depth "${depth} + 1")
        elseif(line MATCHES "^#endif")
            math(EXPR depth "${depth} - 1")
        endif()
        if(line MATCHES "^#include <(asio_retry/result\\.hpp)>")
            flatten(${root}/standalone/${CMAKE_MATCH_1} ${part})
        elseif(line MATCHES "^#include <(asio_retry/.*)>")
            flatten(${root}/include/${CMAKE_MATCH_1} ${part})
        elseif(line MATCHES "^#include \"(.*)\"")
            flatten(${root}/src/${CMAKE_MATCH_1} ${part})
        elseif(line MATCHES "^#include <(.*)>" AND depth EQUAL 0)
            set_property(GLOBAL APPEND PROPERTY ${part}_includes ${CMAKE_MATCH_1})
        elseif(NOT line STREQUAL "#pragma once")
            string(APPEND kept "${line}\n")
        endif()
    endwhile()
    string(REGEX REPLACE "\n\n\n+" "\n\n" kept "\n${kept}")
    add_to(${part}_text "${kept}")
endfunction()

function(part_of name files result)
    foreach(file IN LISTS files)
        flatten(${file} ${name})
    endforeach()
    get_property(includes GLOBAL PROPERTY ${name}_includes)
    get_property(text GLOBAL PROPERTY ${name}_text)
    list(SORT includes)
    list(REMOVE_DUPLICATES includes)
    list(JOIN includes ">\n#include <" lines)
    set(${result} "#include <${lines}>\n${text}" PARENT_SCOPE)
endfunction()

file(GLOB headers ${root}/include/asio_retry/*.hpp ${root}/include/asio_retry/traffic/*.hpp)
file(GLOB sources ${root}/src/*/*.cpp)
list(FILTER headers EXCLUDE REGEX "policy_json|/grpc\\.hpp") # which needs more than headers
list(FILTER sources EXCLUDE REGEX "policy_json")
part_of(interface "${headers}" interface)
part_of(implementation "${sources}" implementation)

file(STRINGS ${root}/CMakeLists.txt project REGEX "^project\\(")
if(NOT project MATCHES "VERSION ([0-9.]+)")
    message(FATAL_ERROR "CMakeLists.txt gives no version")
endif()
set(version ${CMAKE_MATCH_1})
file(READ ${root}/LICENSE license)
string(REGEX REPLACE "\n+$" "" license "${license}")
string(REPLACE "\n" "\n// " license "// ${license}")
string(REPLACE "// \n" "//\n" license "${license}")

file(WRITE ${OUTPUT} "// ${name} ${version}, in one header. Generated.
//
// Define ASIO_RETRY_IMPLEMENTATION before including it in exactly one source file of a program.
//
${license}

#ifndef ASIO_RETRY_SINGLE_HEADER
#define ASIO_RETRY_SINGLE_HEADER

${interface}
#endif // ASIO_RETRY_SINGLE_HEADER

#if defined(ASIO_RETRY_IMPLEMENTATION) && !defined(ASIO_RETRY_IMPLEMENTED)
#define ASIO_RETRY_IMPLEMENTED

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \"-Wsubobject-linkage\" // this is in one source file only
#endif

${implementation}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif // ASIO_RETRY_IMPLEMENTATION
")
