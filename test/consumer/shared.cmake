# A program with a plugin uses the shared library: everything that is thrown can be caught on its other side.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/shared/ DESTINATION ${WORK_DIR}/project)
file(MAKE_DIRECTORY ${WORK_DIR}/project/third_party)
file(CREATE_LINK ${SOURCE_DIR} ${WORK_DIR}/project/third_party/asio_retry SYMBOLIC)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK_DIR}/project -B ${WORK_DIR}/build -C ${CACHE} -G ${GENERATOR} -Werror=dev
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${CONFIG} --parallel 2
    COMMAND_ERROR_IS_FATAL ANY)
find_program(app app PATHS ${WORK_DIR}/build ${WORK_DIR}/build/${CONFIG} NO_DEFAULT_PATH REQUIRED)
execute_process(COMMAND ${app} COMMAND_ERROR_IS_FATAL ANY)
