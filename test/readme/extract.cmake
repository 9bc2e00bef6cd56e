# Writes the README's first C++ block to program.cpp, the others, each as a coroutine, to fragments.cpp. Every line
# has the number that it has in the README (a #line directive would make g++ take the code for a header's).
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/blocks.cmake)
readme_blocks(${README} cpp code)
if(code_count LESS 2 OR NOT code_1 MATCHES "int main\\(\\)")
    message(FATAL_ERROR "${README} must begin with a complete program and have fragments after it")
endif()

# Appends empty lines to `text` so that what comes next is on the given line.
function(pad_to_line line)
    string(LENGTH "${text}" length)
    count_lines("${text}" ${length} present)
    math(EXPR missing "${line} - 1 - ${present}")
    string(REPEAT "\n" ${missing} padding)
    set(text "${text}${padding}" PARENT_SCOPE)
endfunction()

set(text)
pad_to_line(${code_1_line})
file(WRITE program.cpp "${text}${code_1}")

set(text "#include \"fragments.hpp\"\n\nnamespace readme {\n")
set(calls)
foreach(i RANGE 2 ${code_count})
    set(name fragment_at_line_${code_${i}_line})
    math(EXPR line_before "${code_${i}_line} - 1")
    pad_to_line(${line_before})
    string(APPEND text "static asio::awaitable<void> ${name}() {\n${code_${i}}co_return; }\n")
    string(APPEND calls "    readme::run(\"${name}\", readme::${name});\n")
endforeach()
file(WRITE fragments.cpp "${text}\n} // namespace readme\n\nint main() {\n${calls}}\n")
