# Who names no build type gets an optimised library, and who embeds it keeps his own.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
unset(ENV{CMAKE_BUILD_TYPE})
file(READ ${CACHE} cache)
string(REGEX REPLACE "set\\(CMAKE_BUILD_TYPE [^\n]*\n" "" cache "${cache}")
file(WRITE ${WORK_DIR}/cache.cmake "${cache}")

# expect(WHAT TYPE SOURCE OPTION...)
function(expect what type source)
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B "${WORK_DIR}/${what}" -C ${WORK_DIR}/cache.cmake ${ARGN}
        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(STRINGS "${WORK_DIR}/${what}/CMakeCache.txt" found REGEX "^CMAKE_BUILD_TYPE:")
    string(REGEX REPLACE "^[^=]*=" "" found "${found}")
    message(STATUS "${what}: '${found}'")
    if(NOT found STREQUAL type)
        message(FATAL_ERROR "${what}: the build type is '${found}', not '${type}'")
    endif()
endfunction()

expect("nothing said" Release ${SOURCE_DIR} -G Ninja)
expect("something said" Debug ${SOURCE_DIR} -G Ninja -D CMAKE_BUILD_TYPE=Debug)
expect("many configurations" "" ${SOURCE_DIR} -G "Ninja Multi-Config")

file(COPY ${CMAKE_CURRENT_LIST_DIR}/project/ DESTINATION ${WORK_DIR}/project)
file(WRITE ${WORK_DIR}/project/lines_of_the_guide.cmake
    "add_subdirectory(${SOURCE_DIR} asio_retry)\ntarget_link_libraries(app PRIVATE asio_retry::asio_retry)\n")
expect("embedded" "" ${WORK_DIR}/project -G Ninja)
