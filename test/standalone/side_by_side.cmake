# Both libraries from one build, installed in one prefix, in one program.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
set(options -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    -D CMAKE_BUILD_TYPE=Debug -D ASIO_RETRY_ASIO_INCLUDE_DIR=${ASIO} -D CMAKE_CXX_EXTENSIONS=OFF)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/libraries ${options}
    -D ASIO_RETRY_STANDALONE=ON -D ASIO_RETRY_BOOST=ON -D ASIO_RETRY_JSON=OFF COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/libraries --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${WORK_DIR}/libraries --prefix ${WORK_DIR}/prefix
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/side_by_side -B ${WORK_DIR}/programs ${options}
    "-DCMAKE_CXX_FLAGS=${WARNINGS}" -D asio_retry_ROOT=${WORK_DIR}/prefix
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/programs --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
foreach(program both apart)
    find_program(${program} ${program} PATHS ${WORK_DIR}/programs ${WORK_DIR}/programs/Debug NO_DEFAULT_PATH REQUIRED)
    execute_process(COMMAND ${${program}} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
