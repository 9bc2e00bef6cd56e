# doc/internals/toolchains.md has every row of the matrix, and names the commit at which they were run. All rows are run for a
# release; a change has to pass the few that .ci/run runs.
cmake_minimum_required(VERSION 3.25)

file(READ ${SOURCE_DIR}/doc/internals/toolchains.md doc)
execute_process(COMMAND sh ${SOURCE_DIR}/cmake/toolchain_matrix.sh list OUTPUT_VARIABLE rows COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" rows "${rows}")
foreach(row IN LISTS rows)
    string(REGEX REPLACE " +" " | " cells "${row}")
    string(FIND "${doc}" "| ${cells} |" found)
    if(found EQUAL -1)
        message(FATAL_ERROR "doc/internals/toolchains.md has no row '${cells}': run ./cmake/toolchain_matrix.sh")
    endif()
endforeach()

if(NOT doc MATCHES "commit `([0-9a-f]+)`")
    message(FATAL_ERROR "doc/internals/toolchains.md does not name the commit at which the rows were run")
endif()
