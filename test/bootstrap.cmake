# What `./cmake/bootstrap.sh demo` installs and says, with a package manager, CMake and a demo that only note that they are
# called, and what comes of servers of which one cannot be had: cmake -D SOURCE_DIR=... -D WORK_DIR=... -P bootstrap.cmake
cmake_minimum_required(VERSION 3.25)
set(tree ${WORK_DIR}/tree)
set(fakes ${WORK_DIR}/fakes)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${tree}/build/demo/example ${fakes})
file(COPY ${SOURCE_DIR}/cmake/bootstrap.sh DESTINATION ${tree}/cmake)

function(fake file text)
    file(WRITE ${file} "#!/bin/sh\n${text}\n")
    file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()
fake(${fakes}/dpkg-query "exit 1")
fake(${fakes}/apt-cache "echo '  Candidate: 1'")
fake(${fakes}/apt-get "[ \"$1\" = update ] || echo \"apt-get $*\" >> ${WORK_DIR}/installed")
fake(${fakes}/sudo "exec \"$@\"")
fake(${fakes}/cmake "echo \"cmake $*\"")
fake(${tree}/build/demo/example/asio_retry_demo "echo \"demo $*\"")
fake(${tree}/build/demo/example/asio_retry_gateway "echo \"gateway $*\"")

execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CMAKE_CXX_COMPILER_LAUNCHER
    --modify PATH=path_list_prepend:${fakes} ${tree}/cmake/bootstrap.sh demo --seconds 1
    OUTPUT_VARIABLE said RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT said MATCHES "demo --seconds 1\n$")
    message(FATAL_ERROR "it ended with ${status}:\n${said}")
endif()
if(NOT said MATCHES "== the demo is [^\n]*\n== which takes about [0-9]+ s on [0-9]+ cores[^\n]*\n.*== building build/demo\ncmake [^\n]* --target asio_retry_demo\n")
    message(FATAL_ERROR "it does not say what it builds before it does:\n${said}")
endif()

file(READ ${WORK_DIR}/installed installed)
string(REGEX REPLACE "^.*--no-install-recommends |\n$" "" installed "${installed}")
set(expected "g++ cmake ninja-build libboost1.81-dev libboost-program-options1.81-dev")
if(NOT installed STREQUAL expected)
    message(FATAL_ERROR "it installs\n${installed}\nand not\n${expected}")
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CMAKE_CXX_COMPILER_LAUNCHER
    --modify PATH=path_list_prepend:${fakes} ${tree}/cmake/bootstrap.sh demo --page --listen 127.0.0.1:0
    OUTPUT_VARIABLE said RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT said MATCHES " --target asio_retry_gateway\n.*\ngateway --demo --quiet --listen 127.0.0.1:0\n$")
    message(FATAL_ERROR "with a page it ended with ${status}:\n${said}")
endif()

# The tests: a line at each stage, the answer of ctest, and what was skipped.
fake(${fakes}/ctest "echo \"ctest $*\"; exit 8")
file(WRITE ${tree}/build/test/Testing/Temporary/LastTest.log "skipped: there is no moon here\nskipped: there is no moon here\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E env --modify PATH=path_list_prepend:${fakes}
    ${tree}/cmake/bootstrap.sh test -R some OUTPUT_VARIABLE said RESULT_VARIABLE status)
string(CONCAT expected "== .1 of 4, [0-9]+ s. installing[^\n]*\n.*== .2 of 4, [0-9]+ s. configuring\n"
    "== .3 of 4, [0-9]+ s. building\ncmake --build --preset check [^\n]*\n"
    "== .4 of 4, [0-9]+ s. testing\nctest --preset check -R some\n"
    "== [0-9]+ s. Skipped:\n==   [^\n]*\\./check --all[^\n]*\n==   there is no moon here\n$")
if(NOT status EQUAL 8 OR NOT said MATCHES "${expected}")
    message(FATAL_ERROR "the tests ended with ${status} and said\n${said}")
endif()

# The two commands of the README lead there from any folder.
set(short_names try check)
set(commands demo test)
file(MAKE_DIRECTORY ${WORK_DIR}/short/cmake)
fake(${WORK_DIR}/short/cmake/bootstrap.sh "echo \"bootstrap $*\"")
foreach(name command IN ZIP_LISTS short_names commands)
    file(COPY ${SOURCE_DIR}/${name} DESTINATION ${WORK_DIR}/short)
    execute_process(COMMAND ${WORK_DIR}/short/${name} --some "of them" WORKING_DIRECTORY ${fakes} OUTPUT_VARIABLE said)
    if(NOT said STREQUAL "bootstrap ${command} --some of them\n")
        message(FATAL_ERROR "./${name} leads to: ${said}")
    endif()
endforeach()

# not_known(WORD NEAREST): what it says to a command that it has not
function(not_known word nearest)
    execute_process(COMMAND ${tree}/cmake/bootstrap.sh ${word} OUTPUT_VARIABLE said ERROR_VARIABLE said
        RESULT_VARIABLE status)
    if(NOT status EQUAL 2 OR NOT said MATCHES "^bootstrap: there is no command '${word}'${nearest}\n[^\n]* --help [^\n]*\n$")
        message(FATAL_ERROR "to '${word}' it ends with ${status} and says\n${said}")
    endif()
endfunction()
not_known(dem "; did you mean demo\\?")
not_known(tset "; did you mean test\\?")
not_known(install-servces "; did you mean install-services\\?")
not_known(gateway "")

# A question for help installs and builds nothing.
foreach(question demo test services "install-tools")
    execute_process(COMMAND ${CMAKE_COMMAND} -E env --modify PATH=path_list_prepend:${fakes}
        ${tree}/cmake/bootstrap.sh ${question} --help OUTPUT_VARIABLE said RESULT_VARIABLE status)
    if(NOT status EQUAL 0 OR NOT said MATCHES "^usage: [^\n]*COMMAND" OR said MATCHES "== ")
        message(FATAL_ERROR "${question} --help ended with ${status}:\n${said}")
    endif()
endforeach()

# All packages are installed and no server is, as far as it sees; the connection breaks in the midst of one.
set(few ${WORK_DIR}/few)
file(MAKE_DIRECTORY ${few})
foreach(tool dirname env grep id mkdir mv rm sed tr)
    find_program(path_of_${tool} ${tool} REQUIRED)
    file(CREATE_LINK ${path_of_${tool}} ${few}/${tool} SYMBOLIC)
endforeach()
fake(${few}/dpkg-query "echo install ok installed")
fake(${few}/apt-cache [==[
case $2 in
haproxy) echo '  Depends: liblua5.3-0' ;;
mariadb-server-core) echo '  Depends: libaio1' ;;
mosquitto) echo '  Depends: libmosquitto1' ;;
postgresql) echo '  Depends: postgresql-15' ;;
postgresql-15) echo '  Depends: postgresql-client-15' ;;
prometheus) echo '  Depends: promtool' ;;
esac]==])
fake(${few}/apt-get [==[
[ "$1" = download ] || exit 0
status=0
for package in "$@"; do
    case $package in
    download | -* | *=*) ;;
    prometheus) echo half >prometheus_1.deb; status=100 ;;
    *) echo whole >"${package}_1.deb" ;;
    esac
done
exit $status]==])
fake(${few}/dpkg-deb "read content <\"$2\" && echo \"$content \${2##*/} to $3\" >>${WORK_DIR}/unpacked")
execute_process(COMMAND ${CMAKE_COMMAND} -E env PATH=${few} ${tree}/cmake/bootstrap.sh install-services
    OUTPUT_VARIABLE said RESULT_VARIABLE status)
file(READ ${WORK_DIR}/unpacked unpacked)
if(status EQUAL 0 OR NOT unpacked MATCHES "whole redis-server_1.deb to build/services\n" OR unpacked MATCHES "half")
    message(FATAL_ERROR "without prometheus it ended with ${status} and unpacked\n${unpacked}")
endif()
if(NOT unpacked MATCHES "whole promtool_1.deb to build/services\n")
    message(FATAL_ERROR "without what prometheus depends on it unpacked\n${unpacked}")
endif()
if(NOT EXISTS /usr/lib/postgresql AND NOT unpacked MATCHES "whole postgresql-client-15_1.deb to build/services\n")
    message(FATAL_ERROR "without pg_basebackup it unpacked\n${unpacked}")
endif()
foreach(server haproxy prometheus promtool redis-server mariadbd my_print_defaults mosquitto "schema of OpenTelemetry" "retry packages of Node" "rate limiters of Node") # nothing was unpacked in truth
    if(NOT EXISTS /usr/sbin/${server} AND NOT said MATCHES "== there is no ${server} here, and none can be had: tests that need it are skipped\n")
        message(FATAL_ERROR "it does not say that there is no ${server}:\n${said}")
    endif()
endforeach()
file(GLOB left RELATIVE ${tree} ${tree}/* ${tree}/build/services/*/prometheus*)
list(REMOVE_ITEM left build cmake)
if(left)
    message(FATAL_ERROR "it left ${left}")
endif()
