# A warning of a compiler that nobody here has seen must not keep anybody from building; what CI builds has none.
cmake_minimum_required(VERSION 3.25)

# errors_with(RESULT SETTING): whether warnings are errors in the preset of the demo.
function(errors_with result setting)
    set(ENV{ASIO_RETRY_WARNINGS_ARE_ERRORS} ${setting})
    file(REMOVE_RECURSE ${WORK_DIR})
    execute_process(COMMAND ${CMAKE_COMMAND} --preset demo -S ${SOURCE_DIR} -B ${WORK_DIR}
        -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D ASIO_RETRY_BUILD_EXAMPLES=OFF
        WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(STRINGS ${WORK_DIR}/CMakeCache.txt found REGEX "^CMAKE_COMPILE_WARNING_AS_ERROR:")
    string(REGEX REPLACE "^[^=]*=" "" found "${found}")
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

errors_with(usual "")
errors_with(in_ci ON)
if(usual OR NOT in_ci)
    message(FATAL_ERROR "warnings are errors: '${usual}' for everybody, '${in_ci}' in CI")
endif()

# Nowhere else in the presets, and in CI from the first step on.
file(READ ${SOURCE_DIR}/CMakePresets.json presets)
string(REGEX MATCHALL "WARNING_AS_ERROR|-Werror" mentions "${presets}")
file(READ ${SOURCE_DIR}/.ci/run ci)
string(FIND "${ci}" "export ASIO_RETRY_WARNINGS_ARE_ERRORS=ON" exported)
string(FIND "${ci}" "./cmake/bootstrap.sh" first_step)
if(NOT mentions STREQUAL "WARNING_AS_ERROR" OR exported EQUAL -1 OR first_step LESS exported)
    message(FATAL_ERROR "warnings are to be errors in what .ci/run builds, and nowhere else")
endif()
