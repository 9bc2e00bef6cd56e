# In a tree like that of vcpkg, and with a toolchain file that says where it is as vcpkg's does, Asio is found: what is
# configured is the library for Asio without Boost, and what is installed into the tree finds it too. Nothing is compiled:
# of Asio there is the version alone, and an empty library. installed.cmake compiles in such a tree.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/tree.cmake)
file(REMOVE_RECURSE ${WORK_DIR})
write_tree(${WORK_DIR}/vcpkg prefix toolchain)

# configure(VERSION RESULT-OF-STATUS): of Asio in the tree.
function(configure version result)
    file(WRITE ${prefix}/include/asio.hpp "")
    file(WRITE ${prefix}/include/asio/version.hpp "#define ASIO_VERSION ${version} // as Asio has it\n")
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
        -D CMAKE_TOOLCHAIN_FILE=${toolchain} -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_BUILD_TYPE=Release
        -D ASIO_RETRY_STANDALONE=ON
        RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    set(${result} ${status} PARENT_SCOPE)
    set(said "${said}" PARENT_SCOPE)
endfunction()

function(expect_found folder)
    load_cache(${folder} READ_WITH_PREFIX found_ ASIO_RETRY_ASIO_INCLUDE_DIR)
    if(NOT found_ASIO_RETRY_ASIO_INCLUDE_DIR STREQUAL ${prefix}/include)
        message(FATAL_ERROR "it is found in ${found_ASIO_RETRY_ASIO_INCLUDE_DIR}, and not in ${prefix}/include")
    endif()
endfunction()

configure(103002 status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "it is not found:\n${said}")
endif()
expect_found(${WORK_DIR}/build)

file(WRITE ${WORK_DIR}/build/standalone/libasio_retry_standalone.a "!<arch>\n")
execute_process(COMMAND ${CMAKE_COMMAND} --install ${WORK_DIR}/build --prefix ${prefix} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${WORK_DIR}/project/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
find_package(asio_retry REQUIRED COMPONENTS standalone)
")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK_DIR}/project -B ${WORK_DIR}/project/build -G ${GENERATOR}
    -D CMAKE_TOOLCHAIN_FILE=${toolchain} -D CMAKE_CXX_COMPILER=${CXX_COMPILER} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
expect_found(${WORK_DIR}/project/build)

configure(102800 status)
string(REGEX REPLACE "[ \n]+" " " said "${said}")
if(status EQUAL 0 OR NOT said MATCHES "needs Asio 1.30 or newer, which that in [^ ]*/x64-linux/include is not")
    message(FATAL_ERROR "one that is too old ends with ${status}:\n${said}")
endif()
