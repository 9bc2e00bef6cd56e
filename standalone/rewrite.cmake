# The library for standalone Asio is the same source, rewritten: asio for boost::asio, std::error_code for Boost's, and
# namespace asio_retry::standalone, inline, so that one program may have both. Nothing of it is in the tree a second
# time but what is here: `asio_retry/result.hpp` does what Boost's `result` does for the other.
#
# The sources are written so that these rules suffice: they use of an error_code what the standard one has too. What
# is left of Boost after them is a mistake, and is said to be one.

# rewrite_for_standalone(FILE RESULT): sets RESULT to the text of a file of the library or of its tests.
function(rewrite_for_standalone file result)
    file(READ ${file} text)
    string(REGEX REPLACE "[ ]*namespace asio = boost::asio;\n" "" text "${text}")
    string(REGEX REPLACE "<boost/system/result\\.hpp>" "<asio_retry/result.hpp>" text "${text}")
    string(REGEX REPLACE "<boost/system/[a-z_]+\\.hpp>" "<system_error>" text "${text}")
    string(REGEX REPLACE "(#include <system_error>\n)+" "\\1" text "${text}")
    string(REGEX REPLACE "<boost/(asio[./])" "<\\1" text "${text}")
    string(REPLACE "namespace boost::system {\ntemplate <typename T, typename E>\nclass result" "namespace asio_retry {\ntemplate <typename T>\nclass result" text "${text}")
    string(REPLACE "boost::system::result<T, error_code>" "asio_retry::result<T>" text "${text}")
    string(REGEX REPLACE "boost::system::(result|in_place_error)" "asio_retry::\\1" text "${text}")
    string(REPLACE "boost::system::errc::make_error_code" "std::make_error_code" text "${text}")
    # Codes of the system are of Asio's own category, which the standard library's is not equal to.
    if(text MATCHES "boost::system::system_category")
        string(REPLACE "boost::system::system_category" "asio::system_category" text "${text}")
        string(REPLACE "#include <system_error>\n" "#include <asio/error_code.hpp>\n#include <system_error>\n" text "${text}")
        if(NOT text MATCHES "#include <asio[./]")
            message(SEND_ERROR "${file}: names Asio's category of the system, and includes nothing that has it")
        endif()
    endif()
    string(REPLACE "boost::system::" "std::" text "${text}")
    string(REPLACE "boost::asio" "asio" text "${text}")
    string(REPLACE "BOOST_ASIO_" "ASIO_" text "${text}")
    string(REGEX REPLACE "(^|\n)namespace asio_retry([a-z_:]*) {" "\\1namespace asio_retry::inline standalone\\2 {"
        text "${text}")
    if(file MATCHES "/detail/policy/config\\.hpp$") # where versions of Asio are compared
        string(REPLACE "Boost" "Asio" text "${text}")
        string(REPLACE "BOOST" "ASIO" text "${text}")
        string(REPLACE "boost" "asio" text "${text}")
        string(REPLACE "#pragma once\n" "#pragma once\n\n/// These are the headers for standalone Asio.\n#define ASIO_RETRY_STANDALONE 1\n"
            text "${text}")
    endif()
    if(file MATCHES "/test/callables/")
        string(REGEX REPLACE "[^\n]*boost(::|/)function[^\n]*\n" "" text "${text}") # which is one of many there
    endif()
    if(text MATCHES "[^\n]*(boost::|<boost/|BOOST_)[^\n]*")
        message(SEND_ERROR "${file}: standalone Asio has no \"${CMAKE_MATCH_0}\"")
    endif()
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Only what has changed, so that no more is compiled again.
function(write_if_different file text)
    set(before)
    if(EXISTS ${file})
        file(READ ${file} before)
    endif()
    if(NOT before STREQUAL text)
        file(WRITE ${file} "${text}")
    endif()
endfunction()

# write_files(ROOT FOLDER FILES WRITTEN): rewrites files, whose names are relative to ROOT, into FOLDER.
function(write_files root folder files result)
    set(written)
    foreach(file IN LISTS files)
        rewrite_for_standalone(${root}/${file} text)
        string(REGEX REPLACE "^(include|standalone)/" "include/asio_retry_standalone/" name ${file})
        if(NOT name MATCHES "^test/")
            string(REPLACE "#include <asio_retry/" "#include <asio_retry_standalone/asio_retry/" text "${text}")
        endif()
        write_if_different(${folder}/${name} "${text}")
        list(APPEND written ${folder}/${name})
    endforeach()

    # What is gone from the tree is gone here.
    file(GLOB_RECURSE there ${folder}/*)
    list(REMOVE_ITEM there ${written})
    if(there)
        file(REMOVE ${there})
    endif()
    set(${result} ${written} PARENT_SCOPE)
endfunction()

# write_standalone(ROOT FOLDER WRITTEN): writes the library to FOLDER/include/asio_retry_standalone/asio_retry and
# FOLDER/src. Its files include one another by the longer name, which no other library's have.
function(write_standalone root folder result)
    file(GLOB_RECURSE files RELATIVE ${root} ${root}/include/*.hpp ${root}/src/*.hpp ${root}/src/*.cpp)
    list(FILTER files EXCLUDE REGEX "json[a-z_]*\\.[ch]pp$")
    write_files(${root} ${folder} "${files};standalone/asio_retry/result.hpp" written)
    set(${result} ${written} PARENT_SCOPE)
endfunction()

# write_standalone_tests(ROOT FOLDER WRITTEN): the unit tests to FOLDER/test, but for those of what needs Boost.
function(write_standalone_tests root folder result)
    file(GLOB all RELATIVE ${root} ${root}/test/unit/*/*.?pp ${root}/test/callables/*.?pp ${root}/test/schemes/*.?pp
        ${root}/test/support/*.?pp)
    set(files)
    foreach(file IN LISTS all)
        file(STRINGS ${root}/${file} json REGEX "policy_json|boost/json")
        if(NOT json)
            list(APPEND files ${file})
        endif()
    endforeach()
    write_files(${root} ${folder} "${files}" written)
    set(${result} ${written} PARENT_SCOPE)
endfunction()
