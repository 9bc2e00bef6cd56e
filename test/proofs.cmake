# What `release.sh --prove` runs, writes and says, with a matrix of which one row fails:
# cmake -D SOURCE_DIR=... -D WORK_DIR=... -P proofs.cmake
cmake_minimum_required(VERSION 3.25)
find_program(GIT git REQUIRED)
set(tree ${WORK_DIR}/tree)
set(table doc/internals/proofs.md)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${tree})
file(COPY ${SOURCE_DIR}/cmake/release.sh DESTINATION ${tree}/cmake)
file(COPY ${SOURCE_DIR}/CMakeLists.txt DESTINATION ${tree}) # which has the version
file(WRITE ${tree}/cmake/toolchain_matrix.sh "#!/bin/sh\necho \"$@\"\ncase \"$*\" in\nlist) printf 'good  g++\\nbad  g++\\n' ;;\n*bad) exit 1 ;;\nesac\n")
file(CHMOD ${tree}/cmake/toolchain_matrix.sh PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(old "| row | proves | result | date | commit |\n|---|---|---|---|---|\n| fuzz | a | passed | 2026-01-31 | `1234567` |\n")
file(WRITE ${tree}/${table} "${old}| good | b | not run yet | | |\n| bad | c, d | not run yet | | |\n")
file(WRITE ${tree}/.gitignore "/build/\n")

function(git)
    execute_process(COMMAND ${GIT} -c user.name=a -c user.email=a@example.org -c init.defaultBranch=main ${ARGN}
        WORKING_DIRECTORY ${tree} OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(said "${said}" PARENT_SCOPE)
endfunction()

# prove(STATUS PATTERN ARGUMENT...): ends so, and says that.
function(prove wanted pattern)
    execute_process(COMMAND ${tree}/cmake/release.sh --prove ${ARGN}
        OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
    if(NOT status EQUAL wanted OR NOT output MATCHES "${pattern}")
        message(FATAL_ERROR "--prove ${ARGN} ended with ${status} and not ${wanted}, or does not say ${pattern}:\n${output}")
    endif()
endfunction()

# expect(ROW...): the table has these, and those that were not run as they were.
function(expect)
    file(READ ${tree}/${table} text)
    list(JOIN ARGN "\n" wanted)
    if(NOT text STREQUAL "${old}${wanted}\n")
        message(FATAL_ERROR "the table is\n${text}and not\n${old}${wanted}")
    endif()
endfunction()

git(init -q)
git(add .)
git(commit -q -m one)
git(rev-parse --short=8 HEAD)
string(TIMESTAMP day "%Y-%m-%d" UTC)
set(passed "| good | b | passed | ${day} | `${said}` |")
prove(0 "good +./cmake/toolchain_matrix.sh run good" --list)
prove(2 "no row is called 'best'" good best)
prove(0 "good: passed after [0-9]+ s; the log is build/release/good.log" good)
expect("${passed}" "| bad | c, d | not run yet | | |")
prove(1 "bad: FAILED.*good: passed" bad good)
expect("${passed}" "| bad | c, d | FAILED | ${day} | `${said}` |")
file(READ ${tree}/build/release/bad.log log)
if(NOT log STREQUAL "run bad\n")
    message(FATAL_ERROR "the log of the row says '${log}'")
endif()
file(WRITE ${tree}/new.txt "not committed")
prove(2 "commit your changes first" good)
