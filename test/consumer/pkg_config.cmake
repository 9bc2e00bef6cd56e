# Installs into a prefix, moves it, and builds and runs a program with nothing but what pkg-config says.
cmake_minimum_required(VERSION 3.25)
find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${WORK_DIR}/first --config ${CONFIG}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK_DIR}/first "${WORK_DIR}/moved")

file(GLOB_RECURSE descriptions ${WORK_DIR}/moved/*/asio_retry.pc)
get_filename_component(directory "${descriptions}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${directory})
execute_process(COMMAND ${pkg_config} --cflags --libs asio_retry OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY
    OUTPUT_STRIP_TRAILING_WHITESPACE)
separate_arguments(flags UNIX_COMMAND "${flags}")
if("-I/usr/include" IN_LIST flags)
    message(FATAL_ERROR "the system's own directory is named: ${flags}")
endif()
execute_process(COMMAND ${pkg_config} --modversion asio_retry OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY
    OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT version STREQUAL VERSION)
    message(FATAL_ERROR "pkg-config says version ${version}, not ${VERSION}")
endif()

separate_arguments(warnings UNIX_COMMAND "${WARNINGS}")
execute_process(COMMAND ${COMPILER} -std=c++20 ${warnings} ${CMAKE_CURRENT_LIST_DIR}/project/main.cpp
    -o ${WORK_DIR}/app ${flags} COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(libraries ${directory} DIRECTORY)

# The library for JSON needs the other one, which a linker wants to hear of after it.
execute_process(COMMAND ${pkg_config} --libs asio_retry_json OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
if(NOT flags MATCHES "-lasio_retry_json .*-lasio_retry ")
    message(FATAL_ERROR "pkg-config links for JSON: ${flags}")
endif()
file(GLOB of_json ${libraries}/libasio_retry_json.*)
if(NOT of_json)
    message(FATAL_ERROR "there is no library for JSON in ${libraries}")
endif()

set(ENV{LD_LIBRARY_PATH} ${libraries})
execute_process(COMMAND ${WORK_DIR}/app COMMAND_ERROR_IS_FATAL ANY)
