# With ASIO_RETRY_JSON=OFF nothing of Boost.JSON is compiled, installed or exported, and what needs it is refused.
cmake_minimum_required(VERSION 3.25)

# configure(FOLDER OPTION...): how that ends comes to `status` and `said`.
function(configure folder)
    set(boost)
    if(BOOST_ROOT)
        set(boost -D BOOST_ROOT=${BOOST_ROOT})
    endif()
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/${folder} -G ${GENERATOR}
        -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_EXPORT_COMPILE_COMMANDS=ON ${boost} ${ARGN}
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    set(status ${result} PARENT_SCOPE)
    set(said "${output}" PARENT_SCOPE)
endfunction()

# How often they speak of it, installed or compiled or exported.
function(count_json folder result)
    set(all "")
    foreach(file compile_commands.json cmake_install.cmake asio_retry-targets.cmake)
        file(READ ${WORK_DIR}/${folder}/${file} text)
        string(REPLACE "${WORK_DIR}" "" text "${text}") # whose name has the word
        string(REGEX MATCHALL "policy_json|asio_retry::json|asio_retry_json" found "${text}")
        list(APPEND all ${found})
    endforeach()
    list(LENGTH all count)
    set(${result} ${count} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
foreach(folder with without)
    set(option ON)
    if(folder STREQUAL "without")
        set(option OFF)
    endif()
    configure(${folder} -D ASIO_RETRY_JSON=${option})
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "ASIO_RETRY_JSON=${option} is not configured:\n${said}")
    endif()
    count_json(${folder} ${folder}_count)
endforeach()
if(NOT without_count EQUAL 0 OR with_count LESS 3)
    message(FATAL_ERROR "JSON comes ${without_count} times without it, and ${with_count} times with it")
endif()

# In a build that knows the compiler already.
set(parts TESTS TOOL BENCHMARKS FUZZERS)
foreach(part IN LISTS parts)
    set(options ${parts})
    list(TRANSFORM options REPLACE "(.+)" "-DASIO_RETRY_BUILD_\\1=OFF")
    configure(without -D ASIO_RETRY_JSON=OFF ${options} -D ASIO_RETRY_BUILD_${part}=ON)
    if(status EQUAL 0 OR NOT said MATCHES "ASIO_RETRY_BUILD_${part} reads and writes JSON")
        message(FATAL_ERROR "ASIO_RETRY_BUILD_${part} is not refused without JSON:\n${said}")
    endif()
endforeach()
