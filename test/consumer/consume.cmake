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
set(files ${CMAKE_CURRENT_LIST_DIR}/project/)
if(WAY STREQUAL "add_subdirectory") # of a project that has a library too, for re_export.cmake
    set(files ${CMAKE_CURRENT_LIST_DIR}/embedder/ ${CMAKE_CURRENT_LIST_DIR}/project/main.cpp)
endif()
file(COPY ${files} DESTINATION ${WORK_DIR}/project)
file(WRITE ${WORK_DIR}/project/lines_of_the_guide.cmake "${chosen}")
set(options -C ${CACHE} -G ${GENERATOR} -Werror=dev)
if(WAY STREQUAL "find_package")
    # What is installed comes from the tarball that cpack makes of this build.
    execute_process(COMMAND ${CMAKE_CPACK_COMMAND} -G TGZ -C ${CONFIG} --config ${BINARY_DIR}/CPackConfig.cmake
        -B ${WORK_DIR}/packed OUTPUT_QUIET ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
    if(said)
        message(FATAL_ERROR "cpack complains: ${said}")
    endif()
    file(GLOB tarball ${WORK_DIR}/packed/*.tar.gz)
    cmake_path(GET tarball FILENAME name)
    if(NOT name MATCHES "^asio_retry-${VERSION}-.*\\.tar\\.gz$")
        message(FATAL_ERROR "cpack made '${name}'")
    endif()
    file(ARCHIVE_EXTRACT INPUT ${tarball} DESTINATION ${WORK_DIR}/unpacked)
    file(REMOVE_RECURSE ${WORK_DIR}/packed) # where the files lay before
    string(REGEX REPLACE "\\.tar\\.gz$" "" name ${name})
    list(APPEND options -D asio_retry_ROOT=${WORK_DIR}/unpacked/${name})
else() # what a release would be, at the place that the guide names
    execute_process(COMMAND ${SOURCE_DIR}/cmake/release.sh --archive ${WORK_DIR}/project
        OUTPUT_QUIET ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
    if(WAY STREQUAL "add_subdirectory")
        page_blocks(${SOURCE_DIR}/doc/guide/installing.md sh commands)
        execute_process(COMMAND sh -e -c "${commands_1}" WORKING_DIRECTORY ${WORK_DIR}/project COMMAND_ERROR_IS_FATAL ANY)
    else()
        file(MAKE_DIRECTORY ${WORK_DIR}/project/third_party)
        file(RENAME ${WORK_DIR}/project/asio_retry-${VERSION}.tar.gz ${WORK_DIR}/project/third_party/asio_retry.tar.gz)
    endif()
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK_DIR}/project -B ${WORK_DIR}/build ${options}
    COMMAND_ERROR_IS_FATAL ANY)
if(NOT WAY STREQUAL "find_package") # the library is compiled as two files, and the project's own files as they are
    file(GLOB_RECURSE joined RELATIVE ${WORK_DIR}/build ${WORK_DIR}/build/unity_*.cxx)
    if(NOT "${joined}" MATCHES "^[^;]*/asio_retry\\.dir/[^;]*;[^;]*/asio_retry\\.dir/[^;]*$")
        message(FATAL_ERROR "these files are compiled as one: ${joined}")
    endif()
endif()
if(WAY STREQUAL "FetchContent_Declare")
    return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${CONFIG} --parallel 1
    COMMAND_ERROR_IS_FATAL ANY)
find_program(app app PATHS ${WORK_DIR}/build ${WORK_DIR}/build/${CONFIG} NO_DEFAULT_PATH REQUIRED)
execute_process(COMMAND ${app} COMMAND_ERROR_IS_FATAL ANY)
