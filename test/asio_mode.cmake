# Every public header, and a program, compile with macros that change what Asio declares or what is used of it.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers RELATIVE ${SOURCE_DIR}/include ${SOURCE_DIR}/include/asio_retry/*.hpp)
list(FILTER headers EXCLUDE REGEX "detail/|policy_json|/grpc\\.hpp") # which needs more than headers
list(TRANSFORM headers REPLACE ".+" "#include <\\0>\n")
string(JOIN "" includes ${headers})
list(JOIN MACROS _and_ name)
set(source ${WORK_DIR}/${name}.cpp)
file(WRITE ${source} "${includes}#include \"${SOURCE_DIR}/test/consumer/project/main.cpp\"\n")

set(options)
foreach(folder IN LISTS INCLUDES)
    list(APPEND options -I${folder})
endforeach()
foreach(macro IN LISTS MACROS)
    list(APPEND options -D${macro})
endforeach()
execute_process(COMMAND ${CXX_COMPILER} -std=c++20 ${options} -fsyntax-only ${source}
    COMMAND_ERROR_IS_FATAL ANY)
