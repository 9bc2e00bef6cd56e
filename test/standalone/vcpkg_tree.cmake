# In a tree like that of vcpkg, and with a toolchain file that says where it is as vcpkg's does, Asio is found: what is
# configured is the library for Asio without Boost. Of Asio there is the version alone, since nothing is compiled.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/vcpkg/installed/x64-linux)
set(toolchain ${WORK_DIR}/vcpkg/scripts/buildsystems/vcpkg.cmake)
file(WRITE ${toolchain} "list(APPEND CMAKE_PREFIX_PATH \"${prefix}\")\nlist(APPEND CMAKE_FIND_ROOT_PATH \"${prefix}\")\n")

# configure(VERSION RESULT-OF-STATUS): of Asio in the tree.
function(configure version result)
    file(WRITE ${prefix}/include/asio.hpp "")
    file(WRITE ${prefix}/include/asio/version.hpp "#define ASIO_VERSION ${version} // as Asio has it\n")
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build_${version} -G ${GENERATOR}
        -D CMAKE_TOOLCHAIN_FILE=${toolchain} -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_BUILD_TYPE=Release
        -D ASIO_RETRY_STANDALONE=ON RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    set(${result} ${status} PARENT_SCOPE)
    set(said "${said}" PARENT_SCOPE)
endfunction()

configure(103002 status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "it is not found:\n${said}")
endif()
load_cache(${WORK_DIR}/build_103002 READ_WITH_PREFIX found_ ASIO_RETRY_ASIO_INCLUDE_DIR)
if(NOT found_ASIO_RETRY_ASIO_INCLUDE_DIR STREQUAL ${prefix}/include)
    message(FATAL_ERROR "it is found in ${found_ASIO_RETRY_ASIO_INCLUDE_DIR}, and not in ${prefix}/include")
endif()
configure(102800 status)
string(REGEX REPLACE "[ \n]+" " " said "${said}")
if(status EQUAL 0 OR NOT said MATCHES "needs Asio 1.30 or newer, which that in [^ ]*/x64-linux/include is not")
    message(FATAL_ERROR "one that is too old ends with ${status}:\n${said}")
endif()
