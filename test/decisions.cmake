# Compares the decisions and the schemes that tests name with those of doc/internals/decisions.md: each is in both.
cmake_minimum_required(VERSION 3.25)

# What `pattern` finds in `text`, cut down to what `name` matches in it: once each, in order.
function(find_names result text pattern name)
    string(REGEX MATCHALL "${pattern}" found "${text}")
    string(REGEX MATCHALL "${name}" found "${found}")
    list(TRANSFORM found REPLACE "^0" "")
    list(REMOVE_DUPLICATES found)
    list(SORT found COMPARE NATURAL)
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

function(compare what tested written)
    if(NOT written)
        message(FATAL_ERROR "no ${what} found in doc/internals/decisions.md")
    endif()
    set(untested ${written})
    list(REMOVE_ITEM untested ${tested})
    set(unwritten ${tested})
    list(REMOVE_ITEM unwritten ${written})
    if(untested OR unwritten)
        message(SEND_ERROR "${what} without a test of their name: ${untested}; that doc/internals/decisions.md lacks: ${unwritten}")
    endif()
endfunction()

file(GLOB_RECURSE tests ${SOURCE_DIR}/test/*.cpp ${SOURCE_DIR}/test/*.hpp ${SOURCE_DIR}/test/CMakeLists.txt ${SOURCE_DIR}/test/house_tests.cmake)
set(all)
foreach(test IN LISTS tests)
    file(READ ${test} text)
    string(APPEND all "${text}")
endforeach()
file(READ ${SOURCE_DIR}/doc/internals/decisions.md text)

find_names(tested "${all}" "decision_[0-9]+" "[0-9]+")
find_names(written "${text}" "\\*\\*[0-9]+\\.\\*\\*" "[0-9]+")
compare(decisions "${tested}" "${written}")

# A name may be of several, as those of scheme_B2_B3 are and of scheme_B1_to_B4, which are B1 and B4.
find_names(tested "${all}" "scheme(_(to_)?[A-Z][0-9]+)+" "[A-Z][0-9]+")
find_names(written "${text}" "\\*\\*[A-Z][0-9]+\\.\\*\\*" "[A-Z][0-9]+")
compare(schemes "${tested}" "${written}")
