# A program is linked with the library whose headers it was compiled with, and with the Boost that the library was built
# with, and with no other.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
file(WRITE ${WORK_DIR}/app.cpp "#include <asio_retry/retry_policy.hpp>
int main() { return asio_retry::retry_policy().max_attempts(3).settings().max_attempts == 3 ? 0 : 1; }
")

# link_with_headers(FOLDER RESULT FLAG...): 0 if it links.
function(link_with_headers folder result)
    set(flags -I${folder} ${ARGN})
    if(SANITIZE)
        list(APPEND flags -fsanitize=${SANITIZE})
    endif()
    foreach(directory IN LISTS BOOST_DIRS)
        list(APPEND flags -I${directory})
    endforeach()
    find_library(library asio_retry PATHS ${BINARY_DIR} ${BINARY_DIR}/${CONFIG} NO_DEFAULT_PATH REQUIRED)
    cmake_path(GET library PARENT_PATH place)
    execute_process(COMMAND ${COMPILER} -std=c++20 ${flags} ${WORK_DIR}/app.cpp ${library} -Wl,-rpath,${place} -o ${WORK_DIR}/app
        RESULT_VARIABLE code ERROR_VARIABLE said)
    set(${result} ${code} PARENT_SCOPE)
    set(said "${said}" PARENT_SCOPE)
endfunction()

link_with_headers(${SOURCE_DIR}/include code)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "a program does not link with its own library: ${said}")
endif()
execute_process(COMMAND ${WORK_DIR}/app COMMAND_ERROR_IS_FATAL ANY)

file(COPY ${SOURCE_DIR}/include/asio_retry DESTINATION ${WORK_DIR}/other)
set(config ${WORK_DIR}/other/asio_retry/detail/policy/config.hpp)
file(READ ${config} text)
string(REGEX REPLACE "library_is_version_[0-9_]+" "library_is_version_99_1" other "${text}")
if(other STREQUAL text)
    message(FATAL_ERROR "no header names the version of its library")
endif()
file(WRITE ${config} "${other}")
link_with_headers(${WORK_DIR}/other code)
if(code EQUAL 0 OR NOT said MATCHES "library_is_version_99_1")
    message(FATAL_ERROR "headers of another version link: ${said}")
endif()

# A program without RTTI would crash: its executors and gates mean nothing to a library that has it.
link_with_headers(${SOURCE_DIR}/include code -fno-rtti)
if(code EQUAL 0 OR NOT said MATCHES "library_is_version_[0-9_]+_with_boost_[0-9]+_without_rtti")
    message(FATAL_ERROR "a program without RTTI links with a library that has it: ${said}")
endif()

# One that calls itself newer, and a newer one where there is one.
file(WRITE ${WORK_DIR}/newer/boost/version.hpp "#define BOOST_VERSION 199000\n#define BOOST_LIB_VERSION \"1_990\"\n")
foreach(boost IN LISTS OTHER_BOOST ITEMS ${WORK_DIR}/newer)
    file(STRINGS ${boost}/boost/version.hpp number REGEX "^#define BOOST_VERSION ")
    string(REGEX REPLACE "[^0-9]" "" number "${number}")
    foreach(flags "-O2" "-O2;-ffunction-sections;-fdata-sections;-Wl,--gc-sections")
        link_with_headers(${SOURCE_DIR}/include code -I${boost} ${flags})
        if(code EQUAL 0 OR NOT said MATCHES "library_is_version_[0-9_]+_with_boost_${number}")
            message(FATAL_ERROR "a program with Boost ${number} links: ${said}")
        endif()
    endforeach()
endforeach()
