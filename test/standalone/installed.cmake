# Installs asio_retry_standalone alone, moves it beside Asio into a tree like that of vcpkg, and builds and runs programs by
# find_package and by what pkg-config says, and one of the single header. None of them reads a header of Boost.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/tree.cmake)
file(REMOVE_RECURSE ${WORK_DIR})
separate_arguments(warnings UNIX_COMMAND "${WARNINGS}")
set(program ${CMAKE_CURRENT_LIST_DIR}/program)

function(expect_no_boost file)
    file(READ ${file} dependencies)
    if(NOT dependencies MATCHES "asio/io_context\\.hpp" OR dependencies MATCHES "boost/[a-z]")
        message(SEND_ERROR "${file}: ${CMAKE_MATCH_0} is read, or no Asio: ${dependencies}")
    endif()
endfunction()

execute_process(COMMAND ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${WORK_DIR}/first --config ${CONFIG}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
write_tree(${WORK_DIR}/vcpkg moved toolchain)
file(REMOVE_RECURSE ${moved})
file(RENAME ${WORK_DIR}/first ${moved})
file(COPY ${ASIO}/asio ${ASIO}/asio.hpp DESTINATION ${moved}/include)
if(EXISTS ${moved}/include/asio_retry AND NOT HAS_BOOST)
    message(FATAL_ERROR "the headers of the other library are installed")
endif()

# By find_package, which is told nothing but the toolchain file.
file(WRITE ${WORK_DIR}/project/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
find_package(asio_retry REQUIRED COMPONENTS standalone)
if(TARGET asio_retry::asio_retry)
    message(FATAL_ERROR \"nobody asked for the library for Boost.Asio\")
endif()
add_executable(app ${program}/main.cpp)
target_link_libraries(app PRIVATE asio_retry::asio_retry_standalone)
")
set(options -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_CXX_EXTENSIONS=OFF "-DCMAKE_CXX_FLAGS=${WARNINGS}")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK_DIR}/project -B ${WORK_DIR}/build ${options}
    -D CMAKE_TOOLCHAIN_FILE=${toolchain} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${CONFIG} COMMAND_ERROR_IS_FATAL ANY)
find_program(app app PATHS ${WORK_DIR}/build ${WORK_DIR}/build/${CONFIG} NO_DEFAULT_PATH REQUIRED)
execute_process(COMMAND ${app} COMMAND_ERROR_IS_FATAL ANY)

# Without Asio, or with one that is too old, the package says so.
file(WRITE ${WORK_DIR}/old/asio/version.hpp "#define ASIO_VERSION 102201 // 1.22.1\n")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK_DIR}/project -B ${WORK_DIR}/build_old ${options}
    -D asio_retry_ROOT=${moved} -D ASIO_RETRY_ASIO_INCLUDE_DIR=${WORK_DIR}/old
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
string(REGEX REPLACE "[ \n]+" " " said "${said}")
if(result EQUAL 0 OR NOT said MATCHES "needs Asio 1\\.30 or newer")
    message(FATAL_ERROR "an old Asio is not refused: ${said}")
endif()

# By pkg-config, which does not tell Asio from the program: Asio is not free of warnings.
find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
file(GLOB_RECURSE description ${moved}/*/asio_retry_standalone.pc)
cmake_path(GET description PARENT_PATH directory)
set(ENV{PKG_CONFIG_PATH} ${directory})
execute_process(COMMAND ${pkg_config} --cflags --libs asio_retry_standalone OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
execute_process(COMMAND ${COMPILER} -std=c++20 ${program}/main.cpp -o ${WORK_DIR}/app ${flags}
    -MD -MF ${WORK_DIR}/app.d COMMAND_ERROR_IS_FATAL ANY)
expect_no_boost(${WORK_DIR}/app.d)
cmake_path(GET directory PARENT_PATH libraries)
set(ENV{LD_LIBRARY_PATH} ${libraries})
execute_process(COMMAND ${WORK_DIR}/app COMMAND_ERROR_IS_FATAL ANY)

# The single header.
execute_process(COMMAND ${CMAKE_COMMAND} -D OUTPUT=${WORK_DIR}/include/asio_retry.hpp -D STANDALONE=ON
    -P ${SOURCE_DIR}/cmake/single_header.cmake COMMAND_ERROR_IS_FATAL ANY)
foreach(source main operation)
    execute_process(COMMAND ${COMPILER} -std=c++20 ${warnings} -I${WORK_DIR}/include -isystem ${ASIO} -pthread
        -c ${CMAKE_CURRENT_LIST_DIR}/single_header/${source}.cpp -o ${WORK_DIR}/${source}.o -MD -MF ${WORK_DIR}/${source}.d
        COMMAND_ERROR_IS_FATAL ANY)
    expect_no_boost(${WORK_DIR}/${source}.d)
endforeach()
execute_process(COMMAND ${COMPILER} -pthread ${WORK_DIR}/main.o ${WORK_DIR}/operation.o -o ${WORK_DIR}/single
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK_DIR}/single COMMAND_ERROR_IS_FATAL ANY)

# As a directory of another project, whose target sees Asio too.
file(WRITE ${WORK_DIR}/embedder/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
set(ASIO_RETRY_STANDALONE ON)
add_subdirectory(\"${SOURCE_DIR}\" asio_retry)
add_executable(app ${program}/main.cpp)
target_link_libraries(app PRIVATE asio_retry::asio_retry_standalone)
")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK_DIR}/embedder -B ${WORK_DIR}/embedded ${options}
    -D ASIO_RETRY_ASIO_INCLUDE_DIR=${ASIO} -D CMAKE_DISABLE_FIND_PACKAGE_Boost=ON COMMAND_ERROR_IS_FATAL ANY)
