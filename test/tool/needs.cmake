# asio-retry is built if its libraries are found; otherwise a message names the missing ones.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})

# configure(OPTION...): how that ends comes to `status` and `said`, and whether the program is built to `is_built`.
function(configure)
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR} -G ${GENERATOR}
        -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D BOOST_ROOT=${BOOST_ROOT} ${ARGN}
        OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    set(status ${result} PARENT_SCOPE)
    set(said "${output}" PARENT_SCOPE)
    file(STRINGS ${WORK_DIR}/CMakeFiles/TargetDirectories.txt targets REGEX "/asio_retry_program\\.dir$")
    set(is_built "${targets}" PARENT_SCOPE)
endfunction()

configure()
if(NOT status EQUAL 0 OR NOT is_built)
    message(FATAL_ERROR "asio-retry is not built though CLI11 is here:\n${said}")
endif()
foreach(lack CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON ASIO_RETRY_JSON=OFF)
    configure(-D ${lack})
    if(NOT status EQUAL 0 OR is_built OR NOT said MATCHES "asio-retry, the command-line program, is not built: it needs .*CLI11")
        message(FATAL_ERROR "with ${lack} it ends with ${status} and says\n${said}")
    endif()
endforeach()
configure(-D ASIO_RETRY_JSON=ON -D CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -D ASIO_RETRY_BUILD_TOOL=ON)
if(status EQUAL 0)
    message(FATAL_ERROR "ASIO_RETRY_BUILD_TOOL=ON goes on without CLI11:\n${said}")
endif()
