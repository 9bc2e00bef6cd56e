# Builds and runs a project that takes the library in the way that doc/guide/installing.md shows for the command WAY. What is fetched
# builds like a subdirectory, so that project is only configured.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../guide/blocks.cmake)
page_blocks(${SOURCE_DIR}/doc/guide/installing.md cmake lines)
set(chosen)
foreach(i RANGE 1 ${lines_count})
    if(lines_${i} MATCHES "${WAY}\\(")
        set(chosen "${lines_${i}}")
    endif()
endforeach()
if(NOT chosen)
    message(FATAL_ERROR "doc/guide/installing.md does not show how to use ${WAY}")
endif()

file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/project/ DESTINATION ${WORK_DIR}/project)
file(WRITE ${WORK_DIR}/project/lines_of_the_guide.cmake "${chosen}")
set(options -C ${CACHE} -G ${GENERATOR} -Werror=dev)
if(WAY STREQUAL "find_package")
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${WORK_DIR}/prefix --config ${CONFIG}
        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND options -D asio_retry_ROOT=${WORK_DIR}/prefix)
elseif(WAY STREQUAL "add_subdirectory")
    file(MAKE_DIRECTORY ${WORK_DIR}/project/third_party)
    file(CREATE_LINK ${SOURCE_DIR} ${WORK_DIR}/project/third_party/asio_retry SYMBOLIC)
elseif(WAY STREQUAL "FetchContent_Declare")
    list(APPEND options -D FETCHCONTENT_SOURCE_DIR_ASIO_RETRY=${SOURCE_DIR})
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK_DIR}/project -B ${WORK_DIR}/build ${options}
    COMMAND_ERROR_IS_FATAL ANY)
if(WAY STREQUAL "FetchContent_Declare")
    return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${CONFIG} --parallel 2
    COMMAND_ERROR_IS_FATAL ANY)
find_program(app app PATHS ${WORK_DIR}/build ${WORK_DIR}/build/${CONFIG} NO_DEFAULT_PATH REQUIRED)
execute_process(COMMAND ${app} COMMAND_ERROR_IS_FATAL ANY)
