# The programs of the folder CASES compile without their faults: as one file SOURCE, each in a namespace of its own.
# HEADERS has all that they include, so nothing is included inside of a namespace.
cmake_minimum_required(VERSION 3.25)
file(GLOB cases ${CASES}/*.cpp)
set(text)
foreach(case IN LISTS cases)
    cmake_path(GET case STEM name)
    string(APPEND text "#pragma GCC diagnostic push\nnamespace ${name} {\n#include \"${case}\"\n}\n"
        "#pragma GCC diagnostic pop\n")
endforeach()
file(WRITE ${SOURCE} "${text}")

# To g++ they are headers, in which it warns of types of unnamed namespaces.
set(quiet)
if(COMPILER_ID STREQUAL "GNU")
    set(quiet -Wno-subobject-linkage)
endif()
set(ENV{LC_ALL} C)
execute_process(COMMAND ${COMPILER} @${FLAGS} ${quiet} -include ${HEADERS} -fsyntax-only -fdiagnostics-color=never
    -DFAULT_REMOVED ${SOURCE} ERROR_VARIABLE complaint RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "Not each program compiles without its fault:\n${complaint}")
endif()
