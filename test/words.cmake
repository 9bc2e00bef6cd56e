# One word for one thing: what people read (README, doc, comments, messages) has none of the words that were retired.
# The history in CHANGELOG.md is not looked at; nor is code, with names between backticks.
cmake_minimum_required(VERSION 3.25)

# retired(WORD USE [EXCEPTION...]): a regular expression of whole words in small letters, the word to use instead, and
# exceptions: "file: words around it", or "*: words around it" for every file.
set(words)
function(retired word use)
    list(LENGTH words number)
    list(APPEND words "${word}")
    set(words ${words} PARENT_SCOPE)
    set(use_${number} "${use}" PARENT_SCOPE)
    set(exceptions_${number} "${ARGN}" PARENT_SCOPE)
endfunction()

# --- who answers
retired("peers?" "server"
    "src/policy/protocol_codes.cpp: unrelated to the peer") # a quotation
retired("other side" "server")
retired("upstreams?" "server")
# --- what is tried
retired("try again|tries again|tried again|trying again" "retry")
retired("(a|each|every|one|next|last|first|further|another) try" "attempt")
retired("(a|each|every|one|next|last|first|further|another) go" "attempt")
retired("repetitions?" "retry")
# --- how long
retired("ceilings?" "greatest delay"
    "tool/explanation_table.cpp: failure ceiling least" # columns, named as `backoff_step::ceiling`
    "tool/explanation_svg.cpp: mean ceiling drawn")
retired("longest delays?" "greatest delay")
retired("pauses?|paused|pausing" "delay (before a retry), wait (for it)")
retired("sleeps?|sleeping" "delay (before a retry), wait (for it)"
    "include/asio_retry/detail/time/brief_mutex.hpp: begins to sleep" # a thread does
    "include/asio_retry/detail/time/brief_mutex.hpp: sleeps then")
retired("limits? of time" "time limit")
# --- what went wrong, and who ends it
retired("fail reasons?" "error (the code), failure (the event)")
retired("causes?" "error (the code), failure (the event)")
retired("(told|tell|tells|telling) ([a-z]+ )?([a-z]+ )?to stop" "cancelled, stopped")
# --- what limits retries
retired("doors?" "gate")
retired("guard" "gate" "*: work guard") # which is Asio's
retired("budgets? of retries" "retry budget")
# --- who is called
retired("caller's handlers?" "completion handler")

# Sets `prose` to what people read of a file: one line in small letters, without code and names.
function(read_prose file)
    file(READ ${SOURCE_DIR}/${file} text)
    string(REGEX REPLACE "[][;]" " " text "${text}") # they would make or hide lists
    if(file MATCHES "\\.md$")
        string(REGEX REPLACE "\n```[^`]*(`[^`]+)*\n```" "\n" text "${text}")
        string(REGEX REPLACE "\\([a-zA-Z0-9_./:#-]+\\)" "" text "${text}") # where links lead
    else()
        string(REGEX REPLACE "\n *#include[^\n]*" "" text "${text}")
        string(REGEX MATCHALL "//[^\n]*|\"([^\"\\\n]|\\\\.)*\"" parts "${text}")
        list(JOIN parts " " text)
        string(REGEX REPLACE "///?<?|\" +\"|\\\\[nt]" " " text "${text}")
    endif()
    string(REGEX REPLACE "`[^`]*`" "CODE" text "${text}")
    string(REGEX REPLACE "[ \t\r\n]+" " " text " ${text} ")
    string(TOLOWER "${text}" text)
    set(prose "${text}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/doc/*.md ${SOURCE_DIR}/include/*.hpp
    ${SOURCE_DIR}/src/*.hpp ${SOURCE_DIR}/src/*.cpp ${SOURCE_DIR}/tool/*.?pp ${SOURCE_DIR}/lab/*.?pp)
list(APPEND files README.md CONTRIBUTING.md)

list(JOIN words "|" any)
set(found 0)
set(known 0)
foreach(file IN LISTS files)
    read_prose(${file})
    if(prose MATCHES "[^a-z_]servers?[^a-z_]")
        math(EXPR known "${known} + 1")
    endif()
    if(NOT prose MATCHES "[^a-z_](${any})[^a-z_]")
        continue()
    endif()
    set(number 0)
    foreach(word IN LISTS words)
        set(text "${prose}")
        foreach(exception IN LISTS exceptions_${number})
            string(REGEX MATCH "^([^:]+): (.*)$" matched "${exception}")
            if(CMAKE_MATCH_1 STREQUAL file OR CMAKE_MATCH_1 STREQUAL "*")
                string(REPLACE "${CMAKE_MATCH_2}" "" text "${text}")
            endif()
        endforeach()
        string(REGEX MATCHALL "[^ ]* ?[^ ]* ?[^a-z_](${word})[^a-z_] ?[^ ]* ?[^ ]*" places "${text}")
        foreach(place IN LISTS places)
            math(EXPR found "${found} + 1")
            message(SEND_ERROR "${file}: \"${place}\": say ${use_${number}}")
        endforeach()
        math(EXPR number "${number} + 1")
    endforeach()
endforeach()
list(LENGTH files count)
if(count LESS 300 OR known LESS 50)
    message(FATAL_ERROR "looked at ${count} files, of which ${known} say \"server\": is their text found?")
endif()
if(found)
    message(FATAL_ERROR "${found} retired words")
endif()
