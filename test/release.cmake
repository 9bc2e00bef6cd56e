# cmake/release.sh finds each place that names another version: in a copy of the project in which one at a time does.
cmake_minimum_required(VERSION 3.25)
set(tree ${WORK_DIR}/tree)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${tree})
foreach(part CMakeLists.txt CHANGELOG.md README.md LICENSE cmake debian doc include packaging src standalone)
    file(COPY ${SOURCE_DIR}/${part} DESTINATION ${tree})
endforeach()

# check(FAULTS [EXPECTED FILE PATTERN REPLACEMENT]...): with the replacements, which are undone, it finds so many faults
# and says each of what is expected.
function(check faults)
    set(rest ${ARGN})
    set(expectations)
    if(faults EQUAL 0)
        set(expectations "asio_retry ${version}: everything agrees")
    endif()
    set(changed)
    while(rest)
        list(POP_FRONT rest expected file pattern replacement)
        list(APPEND expectations "${expected}")
        file(READ ${tree}/${file} text)
        if(NOT file IN_LIST changed)
            set(kept_${file} "${text}")
            list(APPEND changed ${file})
        endif()
        string(REGEX REPLACE "${pattern}" "${replacement}" other "${text}")
        if(other STREQUAL text)
            message(SEND_ERROR "${file} has no ${pattern}")
        endif()
        file(WRITE ${tree}/${file} "${other}")
    endwhile()
    execute_process(COMMAND ${tree}/cmake/release.sh --check ${WORK_DIR}/build RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    string(REGEX MATCHALL "release: " found "${said}")
    list(LENGTH found count)
    if(NOT count EQUAL faults OR (faults EQUAL 0 AND NOT status EQUAL 0) OR (faults GREATER 0 AND status EQUAL 0))
        message(SEND_ERROR "it found ${count} faults and not ${faults}, ended with ${status} and said\n${said}")
    endif()
    foreach(expected IN LISTS expectations)
        string(FIND "${said}" "${expected}" position)
        if(position EQUAL -1)
            message(SEND_ERROR "it said\n${said}\nand not\n${expected}")
        endif()
    endforeach()
    foreach(file IN LISTS changed)
        file(WRITE ${tree}/${file} "${kept_${file}}")
    endforeach()
endfunction()

file(STRINGS ${tree}/CMakeLists.txt project REGEX "^project\\(asio_retry VERSION ")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${project}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" minor "${version}")

# The copy is of a version that has its day.
file(READ ${tree}/CHANGELOG.md changes)
string(REGEX MATCH "\n## [^\n]*" heading "${changes}") # the first
string(REPLACE "${heading}" "\n## ${version} (2026-01-31)" changes "${changes}")
file(WRITE ${tree}/CHANGELOG.md "${changes}")
file(READ ${tree}/debian/changelog packaged)
string(REGEX REPLACE ">  [^\n]*" ">  Sat, 31 Jan 2026 12:00:00 +0000" packaged "${packaged}")
file(WRITE ${tree}/debian/changelog "${packaged}")
check(0)
check(2 # and debian/changelog is of a day
    "CHANGELOG.md begins with '${version} (unreleased)'" CHANGELOG.md "\\(2026-01-31\\)" "(unreleased)")
check(14 # a second SONAME, and the package that is named in debian/control
    "doc/versions.md does not say: It is ${version} now" doc/versions.md "It is ${version} now" "It is 7.0.0 now"
    "README.md does not say: find_package" README.md "find_package\\(asio_retry [0-9.]+" "find_package(asio_retry 7.0"
    "doc/guide/installing.md does not say: find_package" doc/guide/installing.md
        "find_package\\(asio_retry [0-9.]+" "find_package(asio_retry 7.0"
    "does not say: SONAME = libasio_retry.so.${minor}" CMakeLists.txt "SOVERSION [^\n]*PROJECT_VERSION_MINOR}" "SOVERSION 7"
    "asio_retry.pc does not say: Version: ${version}" cmake/asio_retry.pc.in "@PROJECT_VERSION@" "7.0.0"
    "asio_retry.hpp does not say: // asio_retry ${version}" cmake/single_header.cmake "\\\${name} \\\${version}" "\${name} 7.0.0"
    "config.hpp does not say: library_is_version_" include/asio_retry/detail/policy/config.hpp
        "library_is_version_[0-9_]+" "library_is_version_7_0"
    "config.hpp does not say: detect_mismatch" include/asio_retry/detail/policy/config.hpp
        "detect_mismatch\\(\"asio_retry\", \"[0-9.]+" "detect_mismatch(\"asio_retry\", \"7.0"
    "debian/changelog is of another version" debian/changelog "^asio-retry \\([0-9.]+" "asio-retry (7.0.0"
    "debian/control does not say: Package: libasio-retry${minor}" debian/control "Package: libasio-retry[0-9.]+" "Package: libasio-retry7.0"
    "vcpkg.json does not say:" packaging/vcpkg/asio-retry/vcpkg.json "semver\": \"[0-9.]+" "semver\": \"7.0.0"
    "conanfile.py does not say: version = \"${version}\"" packaging/conan/conanfile.py "version = \"[0-9.]+" "version = \"7.0.0")
check(2
    "debian/changelog is not of 2026-01-31" debian/changelog "31 Jan" "30 Jan"
    "a page names the package libasio-retry7.0" CHANGELOG.md "libasio-retry[0-9]+[.][0-9]+" "libasio-retry7.0")
check(1
    "a page names the package libasio-retry7.0" doc/guide/installing.md "libasio-retry[0-9]+[.][0-9]+" "libasio-retry7.0")
check(13
    "doc/versions.md does not say: It is 7.0.0 now" CMakeLists.txt "asio_retry VERSION [0-9.]+" "asio_retry VERSION 7.0.0")

# An archive of an unpacked archive, though that lies in what a repository around it ignores.
execute_process(COMMAND ${tree}/cmake/release.sh --archive ${WORK_DIR} OUTPUT_QUIET ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E tar tzf ${WORK_DIR}/asio_retry-${version}.tar.gz OUTPUT_VARIABLE packed)
if(NOT packed MATCHES "asio_retry-${version}/CMakeLists.txt\n")
    message(SEND_ERROR "the archive of ${tree} has\n${packed}")
endif()
