# A process for each test, so that it is run by its name and disturbs no other; it begins a quarter sooner where nothing has
# to be relocated. One that a sanitizer has changed takes a tenth of a second to begin: there a few processes share the tests.
function(discover_tests target)
    if(NOT ASIO_RETRY_SANITIZE)
        if(LINUX)
            target_link_options(${target} PRIVATE -no-pie)
        endif()
        gtest_discover_tests(${target} NO_PRETTY_TYPES NO_PRETTY_VALUES ${ARGN})
        return()
    endif()
    set(shards 8)
    math(EXPR last "${shards} - 1")
    foreach(shard RANGE ${last})
        set(name ${target}.shard_${shard})
        add_test(NAME ${name} COMMAND ${target})
        set_tests_properties(${name} PROPERTIES
            ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
    endforeach()
endfunction()
