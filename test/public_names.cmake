# Each public name is in the code of a page that users read: the guide, the first steps or the concepts. So are the
# macros that a program may define. Any other name belongs in `detail`.
cmake_minimum_required(VERSION 3.25)

# Sets `found` to the names of the list that no page has in its code: between backticks or in a program.
function(find_unnamed names pages found)
    set(code "")
    foreach(page IN LISTS pages)
        file(READ ${page} text)
        string(REGEX REPLACE "[][;]" " " text "${text}") # they would make or hide lists
        string(REGEX MATCHALL "```[^`]*```|`[^`\n]+`" parts "${text}")
        list(JOIN parts "\n" parts)
        string(APPEND code "${parts}\n")
    endforeach()
    set(result)
    foreach(name IN LISTS names)
        string(REGEX REPLACE "^.*::" "" word "${name}")
        if(NOT code MATCHES "[^a-zA-Z0-9_-]${word}[^a-zA-Z0-9_-]")
            list(APPEND result ${name})
        endif()
    endforeach()
    set(${found} "${result}" PARENT_SCOPE)
endfunction()

# --- doc/headers.md is what the headers declare: house.the_index_of_headers_is_current

file(STRINGS ${SOURCE_DIR}/doc/headers.md rows REGEX "^\\| `")
set(names)
foreach(row IN LISTS rows)
    string(REGEX MATCH "^\\| `([a-z_0-9:]+)`" name "${row}")
    list(APPEND names ${CMAKE_MATCH_1})
endforeach()
list(REMOVE_DUPLICATES names)

# --- what the headers ask for and do not define themselves

set(asked)
set(defined ASIO_RETRY_SHARED ASIO_RETRY_BUILDING) # by the target
file(GLOB_RECURSE headers ${SOURCE_DIR}/include/*.hpp)
foreach(header IN LISTS headers)
    file(STRINGS ${header} lines REGEX "^#.*ASIO_RETRY_")
    string(REPLACE "\\" "" lines "${lines}") # at the end of a line it would join two of the list
    foreach(line IN LISTS lines)
        string(REGEX MATCHALL "ASIO_RETRY_[A-Z_]+" macros "${line}")
        if(line MATCHES "^#define")
            list(POP_FRONT macros defining)
            list(APPEND defined ${defining})
        endif()
        list(APPEND asked ${macros})
    endforeach()
endforeach()
list(REMOVE_DUPLICATES asked)
list(REMOVE_ITEM asked ${defined})
list(APPEND names ${asked})
if(NOT retry_policy IN_LIST names OR NOT ASIO_RETRY_SPAWN_ATTEMPTS IN_LIST names)
    message(FATAL_ERROR "not all names are found, macros ${asked}")
endif()

file(GLOB pages ${SOURCE_DIR}/doc/guide/*.md)
list(APPEND pages ${SOURCE_DIR}/doc/start.md ${SOURCE_DIR}/doc/concepts.md)
find_unnamed("retry_policy;no_such_name" "${pages}" unnamed)
if(NOT unnamed STREQUAL "no_such_name")
    message(FATAL_ERROR "names are not found: \"${unnamed}\"")
endif()
find_unnamed("${names}" "${pages}" unnamed)

# The reference has each setter of a policy, each function of a scope and of a gate.
set(classes retry_policy retry_scope retry_gate)
set(functions "^    (ASIO_RETRY_DECL )?retry_policy [a-z_]+\\("
    "^    (void|bool|auto|std::size_t|time_point|retry_scope&) [a-z_]+\\(" "^    virtual [a-z]")
foreach(class function IN ZIP_LISTS classes functions)
    file(STRINGS ${SOURCE_DIR}/include/asio_retry/${class}.hpp lines REGEX "${function}")
    set(names)
    foreach(line IN LISTS lines)
        string(REGEX MATCH "([a-z_]+)\\(" name "${line}")
        list(APPEND names ${CMAKE_MATCH_1})
    endforeach()
    list(FILTER names EXCLUDE REGEX "^with_|^changed$|^retry_policy$")
    list(REMOVE_DUPLICATES names)
    list(LENGTH names count)
    if(count LESS 8)
        message(FATAL_ERROR "only ${count} functions of ${class} found: ${names}")
    endif()
    find_unnamed("${names}" ${SOURCE_DIR}/doc/reference/${class}.md absent)
    list(APPEND unnamed ${absent})
endforeach()
foreach(name IN LISTS unnamed)
    message(SEND_ERROR "no page of the guide names ${name}: "
        "add a sentence where a reader looks for it, or move it to detail")
endforeach()
