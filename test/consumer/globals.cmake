# A program whose variables have names that the library's headers use is compiled with the headers by -I, and none of
# them is warned of. What other headers are warned of is not asked.
cmake_minimum_required(VERSION 3.25)
set(ENV{LC_ALL} C)
execute_process(COMMAND ${COMPILER} @${FLAGS} -fsyntax-only -fdiagnostics-color=never ${SOURCE}
    ERROR_VARIABLE complaint RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR complaint MATCHES "asio_retry/[a-z_/]+\\.hpp:[0-9:]+ warning: ")
    message(FATAL_ERROR "${complaint}")
endif()
