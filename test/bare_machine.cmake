# What cmake/bare_machine.sh copies, runs and says, with a debootstrap and a chroot that only note that they are called:
# cmake -D SOURCE_DIR=... -D WORK_DIR=... -P bare_machine.cmake
cmake_minimum_required(VERSION 3.25)
find_program(GIT git REQUIRED)
set(tree ${WORK_DIR}/tree)
set(fakes ${WORK_DIR}/fakes)
set(machines ${WORK_DIR}/machines)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${tree} ${fakes})
file(COPY ${SOURCE_DIR}/cmake/bare_machine.sh DESTINATION ${tree}/cmake)

function(fake name text)
    file(WRITE ${fakes}/${name} "#!/bin/sh\n${text}\n")
    file(CHMOD ${fakes}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# run(STATUS PATTERN ARGUMENT...): ends so, and says that
function(run wanted pattern)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env --modify PATH=path_list_prepend:${fakes}
        ${tree}/cmake/bare_machine.sh ${ARGN} OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE status)
    if(NOT status EQUAL wanted OR NOT said MATCHES "${pattern}")
        message(FATAL_ERROR "bare_machine.sh ${ARGN} ended with ${status} and not ${wanted}, or does not say ${pattern}:\n${said}")
    endif()
endfunction()

run(0 "^usage: " --help)
run(2 "which suite: bookworm or trixie")
run(2 "there is no suite sid; bookworm and trixie" sid)
run(2 "there is no option --agian" --agian trixie)
run(2 "--seconds wants a value" --seconds)
run(2 "--seconds wants a whole number and not 'x'" --seconds x trixie)
run(2 "choose one" --again --fresh trixie)

# A checkout with what is committed, changed, new, deleted and ignored.
function(git)
    execute_process(COMMAND ${GIT} -c user.name=test -c user.email=test@localhost ${ARGN} WORKING_DIRECTORY ${tree}
        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()
foreach(name kept changed deleted)
    file(WRITE ${tree}/${name} committed)
endforeach()
file(WRITE ${tree}/.gitignore "/build/\n")
git(init -q)
git(add .)
git(commit -q -m "all of it")
file(WRITE ${tree}/changed "as it is")
file(WRITE "${tree}/new file" new)
file(WRITE ${tree}/build/ignored ignored)
file(REMOVE ${tree}/deleted)

fake(id "echo 0")
fake(chown "")
fake(apt-config "[ \"$1\" != dump ] || echo 'Acquire::http::Proxy \"http://proxy.invalid\";'")
fake(apt-get [==[
. /etc/os-release
echo "Debian $VERSION_CODENAME http://mirror.invalid/debian main"
echo "Debian $VERSION_CODENAME-security http://mirror.invalid/security main"
echo "Another $VERSION_CODENAME http://another.invalid main"]==])
fake(debootstrap "for last; do folder=$at at=$last; done; echo \"$*\" >>${WORK_DIR}/installed; mkdir -p \"$folder/etc/apt/apt.conf.d\" \"$folder/root\"")
fake(unshare "echo \"ran $*\"; case $* in *$FAILS*) exit 3 ;; esac")

set(ENV{FAILS} "./check")
run(1 "succeeded on a bare trixie after [0-9]+ s: ./try --seconds 7\n.*FAILED on a bare trixie with 3 after [0-9]+ s: ./check\n.*\n  ./check\n$"
    --folder ${machines} --seconds 7 trixie)
file(STRINGS ${machines}/trixie/etc/apt/sources.list sources REGEX "^deb ")
list(TRANSFORM sources REPLACE " \\[.*\\]" "")
if(NOT sources STREQUAL "deb http://mirror.invalid/debian trixie main;deb http://mirror.invalid/security trixie-security main")
    message(FATAL_ERROR "the sources are ${sources}")
endif()
file(STRINGS ${machines}/trixie/etc/apt/apt.conf.d/90machine settings)
if(NOT settings MATCHES "proxy.invalid")
    message(FATAL_ERROR "apt is told ${settings}")
endif()

function(expect_copy)
    set(copy ${machines}/trixie/root/asio_retry)
    file(GLOB_RECURSE files RELATIVE ${copy} ${copy}/*)
    list(FILTER files EXCLUDE REGEX "^\\.git/")
    list(SORT files)
    set(wanted .gitignore changed cmake/bare_machine.sh kept "new file" ${ARGN})
    list(SORT wanted)
    file(READ ${copy}/changed changed)
    if(NOT files STREQUAL wanted OR NOT changed STREQUAL "as it is")
        message(FATAL_ERROR "the copy has ${files} and not ${wanted}; changed is '${changed}'")
    endif()
endfunction()
expect_copy()

# The machine of the last run has a build, which one run keeps and the next does not.
file(WRITE ${machines}/trixie/root/asio_retry/build/built built)
file(WRITE ${machines}/trixie/root/asio_retry/left left)
set(ENV{FAILS} nothing)
run(0 "ran .* echo it\n" --again --folder ${machines} trixie echo it)
expect_copy(build/built)
run(0 "./check" --folder ${machines} trixie)
expect_copy()

# It was installed once, until that is asked for.
file(STRINGS ${WORK_DIR}/installed installed)
run(0 "installing a minimal trixie" --fresh --folder ${machines} trixie)
file(STRINGS ${WORK_DIR}/installed again)
list(LENGTH installed once)
list(LENGTH again twice)
if(NOT once EQUAL 1 OR NOT twice EQUAL 2)
    message(FATAL_ERROR "it was installed ${once} times, and then ${twice} times")
endif()

# What was installed by half is not taken for a whole machine.
fake(debootstrap "mkdir -p ${machines}/bookworm.minimal.half; echo no network; exit 1")
run(1 "no network\n.*debootstrap of bookworm failed" --folder ${machines} bookworm)
if(EXISTS ${machines}/bookworm.minimal)
    message(FATAL_ERROR "it keeps half a machine")
endif()
