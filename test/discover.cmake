# discover_tests(TARGET [TOGETHER REGEX] [PROPERTIES ...]): each suite is one test of CTest, `TARGET.SUITE`, and what its
# tests show of a decision or scheme that their names have is another one, as in `ctest -R decision_13`. REGEX matches
# what tests that share a process have in common at the beginning of `SUITE.TEST`, in place of the suite. To begin a process
# and to list its tests takes longer than most of them do, and a tenth of a second where a sanitizer has changed it.
function(discover_tests target)
    cmake_parse_arguments(PARSE_ARGV 1 of "" "TOGETHER" "PROPERTIES")
    if(ASIO_RETRY_SANITIZE)
        foreach(shard RANGE 7)
            set(name ${target}.shard_${shard})
            add_test(NAME ${name} COMMAND ${target})
            set_tests_properties(${name} PROPERTIES
                ENVIRONMENT "GTEST_TOTAL_SHARDS=8;GTEST_SHARD_INDEX=${shard};GTEST_BRIEF=1")
        endforeach()
        return()
    endif()
    if(LINUX) # begins a quarter sooner where nothing has to be relocated
        target_link_options(${target} PRIVATE -no-pie)
    endif()
    set(suites ${PROJECT_SOURCE_DIR}/test/suites.cmake)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${suites})
    set(tests ${CMAKE_CURRENT_BINARY_DIR}/${target}.tests.cmake)
    add_custom_command(TARGET ${target} POST_BUILD
        COMMAND ${CMAKE_COMMAND} -D NAME=${target} "-DPROGRAM=$<TARGET_FILE:${target}>"
            "-DRUNNER=$<TARGET_PROPERTY:${target},CROSSCOMPILING_EMULATOR>" "-DTOGETHER=${of_TOGETHER}"
            "-DPROPERTIES=${of_PROPERTIES}" -D OUTPUT=${tests} -P ${suites}
        BYPRODUCTS ${tests}
        VERBATIM)
    set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}.include.cmake)
    file(WRITE ${include} "if(EXISTS \"${tests}\")\n    include(\"${tests}\")\nelse()\n"
        "    add_test(${target}.is_not_built ${target}.is_not_built)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
