# A Boost that is unpacked, and not installed, is found where the user says that it is, though another one is installed.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
file(WRITE ${WORK_DIR}/unpacked/boost/version.hpp "#define BOOST_VERSION 199000\n#define BOOST_LIB_VERSION \"1_990\"\n")

execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -C ${CACHE} -G ${GENERATOR}
    -D Boost_NO_BOOST_CMAKE=ON -D Boost_INCLUDE_DIR=${WORK_DIR}/unpacked -D CMAKE_EXPORT_COMPILE_COMMANDS=ON
    COMMAND_ERROR_IS_FATAL ANY)
file(READ ${WORK_DIR}/build/compile_commands.json commands)
if(NOT commands MATCHES "-isystem ${WORK_DIR}/unpacked")
    message(FATAL_ERROR "the library does not compile with the Boost that is unpacked")
endif()
