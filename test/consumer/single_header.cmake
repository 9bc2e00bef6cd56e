# Two source files that include the generated header, and nothing else of the library, make a program.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} -D OUTPUT=${WORK_DIR}/include/asio_retry.hpp
    -P ${SOURCE_DIR}/cmake/single_header.cmake COMMAND_ERROR_IS_FATAL ANY)
file(READ ${WORK_DIR}/include/asio_retry.hpp header)
if(NOT header MATCHES "^// asio_retry ${VERSION}," OR NOT header MATCHES "Boost Software License")
    message(FATAL_ERROR "the header does not begin with version and licence")
endif()
if(header MATCHES "#include [<\"]asio_retry|#pragma once")
    message(FATAL_ERROR "the header does not stand alone: ${CMAKE_MATCH_0}")
endif()

separate_arguments(warnings UNIX_COMMAND "${WARNINGS}")
set(directories)
foreach(directory IN LISTS BOOST_DIRS)
    list(APPEND directories -isystem ${directory})
endforeach()
execute_process(COMMAND ${COMPILER} -std=c++20 ${warnings} -I${WORK_DIR}/include ${directories} -pthread
    ${CMAKE_CURRENT_LIST_DIR}/single_header/main.cpp ${CMAKE_CURRENT_LIST_DIR}/single_header/operation.cpp
    -o ${WORK_DIR}/app COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK_DIR}/app COMMAND_ERROR_IS_FATAL ANY)
