# A function has at most 70 lines, from the first line of its declaration to its last brace. So has a lambda.
cmake_minimum_required(VERSION 3.25)
set(most 70)

# Sets `found` to the first line and the length of each function in `text` that is longer. clang-format has indented the
# text: a closing brace stands below the first character of its declaration.
function(find_long_functions text found)
    string(REGEX REPLACE "[[;]" "(" text "${text}") # they would make or hide lists
    string(REPLACE "]" ")" text "${text}")
    string(REPLACE "\\" "/" text "${text}")
    string(REPLACE "\n" ";" lines "${text}")
    set(number 0)
    set(result)
    foreach(line IN LISTS lines)
        math(EXPR number "${number} + 1")
        if(line STREQUAL "" OR line MATCHES "^ *(//|#|(public|private|protected):)")
            continue()
        endif()
        string(REGEX MATCH "^ +" indentation "${line}")
        if(NOT line MATCHES "^ *}")
            set(first${indentation} ${number})
            set(declaration${indentation} "${line}")
            continue()
        endif()
        if(NOT DEFINED first${indentation} OR NOT indentation MATCHES "^(    )*$") # of a lambda within an expression
            continue()
        endif()
        math(EXPR length "${number} - ${first${indentation}} + 1")
        if(length GREATER most
           AND NOT "${declaration${indentation}}" MATCHES
               "^ *(class|struct|union|enum|namespace|extern) |= {$|return {$")
            list(APPEND result "${first${indentation}} has ${length} lines")
        endif()
        unset(first${indentation})
        if(line MATCHES "{$") # } else {
            set(first${indentation} ${number})
            set(declaration${indentation} "${line}")
        endif()
    endforeach()
    set(${found} "${result}" PARENT_SCOPE)
endfunction()

# The counter itself.
foreach(length 70 71)
    math(EXPR body "${length} - 3")
    string(REPEAT "    call[i];\n" ${body} body)
    find_long_functions("class a {\n};\n\nvoid f(int i,\n       int j) {\n${body}}\n" found_${length})
endforeach()
if(found_70 OR NOT found_71 STREQUAL "4 has 71 lines")
    message(FATAL_ERROR "functions are not counted: \"${found_70}\", \"${found_71}\"")
endif()

file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/include/*.hpp ${SOURCE_DIR}/src/*.?pp
    ${SOURCE_DIR}/standalone/*.hpp ${SOURCE_DIR}/tool/*.?pp ${SOURCE_DIR}/lab/*.?pp ${SOURCE_DIR}/example/*.?pp)
foreach(file IN LISTS files)
    file(READ ${SOURCE_DIR}/${file} text)
    find_long_functions("${text}" found)
    foreach(one IN LISTS found)
        message(SEND_ERROR "${file}: the function in line ${one}, more than ${most}")
    endforeach()
endforeach()
if(NOT files)
    message(FATAL_ERROR "no files found")
endif()
