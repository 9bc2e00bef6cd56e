# A program with a plugin uses the shared library: everything that is thrown can be caught on its other side.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/shared -B ${WORK_DIR}/build -C ${CACHE} -G ${GENERATOR}
    -D ASIO_RETRY_FOLDER=${SOURCE_DIR} -Werror=dev COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${CONFIG} --parallel 1
    COMMAND_ERROR_IS_FATAL ANY)
find_program(app app PATHS ${WORK_DIR}/build ${WORK_DIR}/build/${CONFIG} NO_DEFAULT_PATH REQUIRED)
execute_process(COMMAND ${app} COMMAND_ERROR_IS_FATAL ANY)
