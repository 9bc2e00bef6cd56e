# Writes the index of doc/headers.md: which header to include for a public name; and example/module/asio_retry.cppm, a C++20
# module that exports them.
#
#   cmake [-D CHECK=ON] -P cmake/headers_index.cmake
#
# CHECK fails where one of them is not what would be written.
cmake_minimum_required(VERSION 3.25)
cmake_path(SET root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/..)
set(page ${root}/doc/headers.md)
set(module ${root}/example/module/asio_retry.cppm)

file(GLOB_RECURSE headers RELATIVE ${root}/include ${root}/include/asio_retry/*.hpp)
list(FILTER headers EXCLUDE REGEX "/detail/|/asio_retry\\.hpp$")
list(SORT headers)

# Declared at the beginning of a line, in a namespace of the library's own: a class, a function, an alias.
set(word "[a-z_][a-z_0-9]*")
set(rows)
foreach(header IN LISTS headers)
    file(READ ${root}/include/${header} content)
    string(REGEX REPLACE "\\[\\[[^\n]*\\]\\] ?" "" content "${content}")
    string(REGEX REPLACE "[][;]" "@" content "${content}") # which a list would not keep
    string(REGEX REPLACE "\n" ";" lines "${content}")
    set(space "")
    set(names)
    foreach(line IN LISTS lines)
        if(line MATCHES "^namespace (asio_retry[a-z_:]*) {")
            string(REGEX REPLACE "^asio_retry(::)?" "" space "${CMAKE_MATCH_1}")
        elseif(line MATCHES "^namespace detail {")
            set(outer "${space}")
            set(space detail)
            set(depth 0)
            continue()
        elseif(line MATCHES "^} // namespace detail$" OR (space STREQUAL "detail" AND line STREQUAL "}" AND depth EQUAL 0))
            set(space "${outer}")
            continue()
        elseif(line MATCHES "^(namespace|#|friend|static_assert) |^using (namespace|enum) ")
            continue()
        elseif(space MATCHES "detail")
            if(line MATCHES "^ *}")
                math(EXPR depth "${depth} - 1")
            endif()
            if(line MATCHES "{( *//.*)?$")
                math(EXPR depth "${depth} + 1")
            endif()
            continue()
        elseif(line MATCHES "^(template|requires|if|for|operator|explicit)[^a-z_]")
            continue()
        elseif(line MATCHES "^(class|struct|enum class) (ASIO_RETRY_DECL[A-Z_]* )?(${word})( final)?( : [^{]*)? *{")
            list(APPEND names ${CMAKE_MATCH_3})
        elseif(line MATCHES "^(using|concept|inline constexpr [a-z_:<>]+) (${word})[ ={@]")
            list(APPEND names ${CMAKE_MATCH_2})
        elseif(line MATCHES "^[A-Za-z_][^(]*[ &*](${word})\\(")
            list(APPEND names ${CMAKE_MATCH_1})
        elseif(line MATCHES "^(${word})\\(")
            list(APPEND names ${CMAKE_MATCH_1})
        endif()
        if(names AND space)
            list(POP_BACK names last)
            if(NOT last MATCHES "::")
                set(last ${space}::${last})
            endif()
            list(APPEND names ${last})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES names)
    foreach(name IN LISTS names)
        list(APPEND rows "| `${name}` | `<${header}>` |")
        if(NOT header MATCHES "policy_json|/grpc\\.hpp")
            list(APPEND exported ${name})
        endif()
    endforeach()
endforeach()
list(SORT rows)
list(REMOVE_DUPLICATES rows)
list(JOIN rows "\n" table)
set(text "# Which header to include

New here? [Which of these names do I need](which_name.md) has the twelve that most programs use.

The table has every public name of the namespace `asio_retry`, and the header that declares it.
`<asio_retry/asio_retry.hpp>` includes all these headers except `policy_json.hpp` and `grpc.hpp`.
`cmake -P cmake/headers_index.cmake` writes this page.

| name | header |
|---|---|
${table}
")

# Nothing else of the headers can be seen by who imports the module.
list(REMOVE_DUPLICATES exported)
list(SORT exported)
set(own ${exported})
list(FILTER own EXCLUDE REGEX "::")
list(FILTER exported INCLUDE REGEX "^profiles::")
list(TRANSFORM own REPLACE ".+" "using asio_retry::\\0@")
list(TRANSFORM exported REPLACE ".+" "using asio_retry::\\0@")
list(JOIN own "\n" own)
list(JOIN exported "\n" exported)
set(module_text "// The headers but policy_json.hpp and grpc.hpp as a C++20 module. Written by cmake/headers_index.cmake.
module@

#include <asio_retry/asio_retry.hpp>

export module asio_retry@

export namespace asio_retry {
${own}
} // namespace asio_retry

export namespace asio_retry::profiles {
${exported}
} // namespace asio_retry::profiles
")
string(REPLACE "@" ";" module_text "${module_text}")

foreach(file page module)
    set(to_write "${text}")
    if(file STREQUAL "module")
        set(to_write "${module_text}")
    endif()
    if(NOT CHECK)
        file(WRITE ${${file}} "${to_write}")
        continue()
    endif()
    file(READ ${${file}} written)
    if(NOT written STREQUAL to_write)
        message(FATAL_ERROR "${${file}} is not what the headers say: run cmake -P cmake/headers_index.cmake")
    endif()
endforeach()
