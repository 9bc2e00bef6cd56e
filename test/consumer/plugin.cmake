# A plugin links the static library as it is built by default. Who decides about all of his code decides about this too.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
set(configure ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/plugin -C ${CACHE} -G Ninja -D ASIO_RETRY_FOLDER=${SOURCE_DIR}
    -Werror=dev)
execute_process(COMMAND ${configure} -B ${WORK_DIR}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${CONFIG} --parallel 1
    COMMAND_ERROR_IS_FATAL ANY)
find_program(host host PATHS ${WORK_DIR}/build NO_DEFAULT_PATH REQUIRED)
find_file(plugin libplugin.so PATHS ${WORK_DIR}/build NO_DEFAULT_PATH REQUIRED)
execute_process(COMMAND ${host} ${plugin} COMMAND_ERROR_IS_FATAL ANY)

execute_process(COMMAND ${configure} -B ${WORK_DIR}/off -D CMAKE_POSITION_INDEPENDENT_CODE=OFF OUTPUT_QUIET
    COMMAND_ERROR_IS_FATAL ANY)
foreach(build build off)
    file(STRINGS ${WORK_DIR}/${build}/compile_commands.json in_${build} REGEX "-fPIC.*-c .*asio_retry\\.dir")
endforeach()
if(NOT in_build OR in_off)
    message(FATAL_ERROR "compiled for plugins by default: '${in_build}', with CMAKE_POSITION_INDEPENDENT_CODE=OFF: '${in_off}'")
endif()
