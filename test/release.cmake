# cmake/release.sh finds each place that names another version, in a copy of the project in which all of them do at once.
cmake_minimum_required(VERSION 3.25)
set(tree ${WORK_DIR}/tree)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${tree})
foreach(part CMakeLists.txt CHANGELOG.md README.md LICENSE cmake debian doc include packaging src standalone)
    file(COPY ${SOURCE_DIR}/${part} DESTINATION ${tree})
endforeach()

# change(FILE PATTERN REPLACEMENT EXPECTED): what the next check is to say of it.
function(change file pattern replacement message)
    file(READ ${tree}/${file} text)
    string(REGEX REPLACE "${pattern}" "${replacement}" changed "${text}")
    if(changed STREQUAL text)
        message(SEND_ERROR "${file} has no ${pattern}")
    endif()
    file(WRITE ${tree}/${file} "${changed}")
    set_property(GLOBAL APPEND PROPERTY expected "${message}")
endfunction()

# check(): whether it says all of that. The changes are undone.
function(check)
    execute_process(COMMAND ${tree}/cmake/release.sh --check RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    get_property(messages GLOBAL PROPERTY expected)
    foreach(message IN LISTS messages)
        string(FIND "${said}" "${message}" found)
        if(found EQUAL -1)
            message(SEND_ERROR "it said\n${said}\nand not\n${message}")
        endif()
    endforeach()
    set(status ${status} PARENT_SCOPE)
    set_property(GLOBAL PROPERTY expected)
    file(REMOVE_RECURSE ${tree})
    file(COPY ${WORK_DIR}/released/ DESTINATION ${tree})
endfunction()

file(STRINGS ${tree}/CMakeLists.txt project REGEX "^project\\(asio_retry VERSION ")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${project}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" minor "${version}")

# The copy is of a version that has its day.
file(READ ${tree}/CHANGELOG.md changes)
string(REGEX REPLACE "\n## [^\n]*" "\n## ${version} (2026-01-31)" changes "${changes}")
file(WRITE ${tree}/CHANGELOG.md "${changes}")
file(READ ${tree}/debian/changelog packaged)
string(REGEX REPLACE ">  [^\n]*" ">  Sat, 31 Jan 2026 12:00:00 +0000" packaged "${packaged}")
file(WRITE ${tree}/debian/changelog "${packaged}")
file(COPY ${tree}/ DESTINATION ${WORK_DIR}/released)

set_property(GLOBAL PROPERTY expected "asio_retry ${version}: everything agrees")
check()
if(NOT status EQUAL 0)
    message(SEND_ERROR "where everything agrees it ends with ${status}")
endif()

change(CHANGELOG.md "\\(2026-01-31\\)" "(unreleased)" "CHANGELOG.md begins with '${version} (unreleased)'")
check()
if(status EQUAL 0)
    message(SEND_ERROR "where something does not agree it ends with 0")
endif()

change(doc/versions.md "It is ${version} now" "It is 7.0.0 now" "doc/versions.md does not say: It is ${version} now")
change(README.md "find_package\\(asio_retry [0-9.]+" "find_package(asio_retry 7.0" "README.md does not say: find_package")
change(doc/guide/installing.md "find_package\\(asio_retry [0-9.]+" "find_package(asio_retry 7.0"
    "doc/guide/installing.md does not say: find_package")
change(CMakeLists.txt "SOVERSION [^\n]*PROJECT_VERSION_MINOR}" "SOVERSION 7" "does not say: SONAME = libasio_retry.so.${minor}")
change(cmake/asio_retry.pc.in "@PROJECT_VERSION@" "7.0.0" "asio_retry.pc does not say: Version: ${version}")
change(cmake/single_header.cmake "\\\${name} \\\${version}" "\${name} 7.0.0" "asio_retry.hpp does not say: // asio_retry ${version}")
change(include/asio_retry/detail/policy/config.hpp "library_is_version_[0-9_]+" "library_is_version_7_0"
    "config.hpp does not say: library_is_version_")
change(include/asio_retry/detail/policy/config.hpp "detect_mismatch\\(\"asio_retry\", \"[0-9.]+" "detect_mismatch(\"asio_retry\", \"7.0"
    "config.hpp does not say: detect_mismatch")
change(debian/changelog "^asio-retry \\([0-9.]+" "asio-retry (7.0.0" "debian/changelog is of another version")
change(debian/changelog "31 Jan" "30 Jan" "debian/changelog is not of 2026-01-31")
change(CHANGELOG.md "libasio-retry[0-9]+[.][0-9]+" "libasio-retry8.0" "a page names the package libasio-retry8.0")
change(doc/guide/installing.md "libasio-retry[0-9]+[.][0-9]+" "libasio-retry9.0" "a page names the package libasio-retry9.0")
change(debian/control "Package: libasio-retry[0-9.]+" "Package: libasio-retry7.0"
    "debian/control does not say: Package: libasio-retry${minor}")
change(packaging/vcpkg/asio-retry/vcpkg.json "semver\": \"[0-9.]+" "semver\": \"7.0.0" "vcpkg.json does not say:")
change(packaging/conan/conanfile.py "version = \"[0-9.]+" "version = \"7.0.0" "conanfile.py does not say: version = \"${version}\"")
check()

change(CMakeLists.txt "asio_retry VERSION [0-9.]+" "asio_retry VERSION 7.0.0" "does not say: It is 7.0.0 now")
check()
