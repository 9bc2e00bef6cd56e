# What the project promises of its own files. None of these compiles anything.
add_test(NAME house.dependencies_run_one_way
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/house.cmake)

add_test(NAME house.the_index_of_headers_is_current
    COMMAND ${CMAKE_COMMAND} -D CHECK=ON -P ${PROJECT_SOURCE_DIR}/cmake/headers_index.cmake)
add_test(NAME house.public_names_are_in_the_guide
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/public_names.cmake)
add_test(NAME house.functions_are_short
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/functions.cmake)
add_test(NAME house.decisions_are_written_and_tested
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/decisions.cmake)

add_test(NAME house.bootstrap_gets_what_it_needs
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D WORK_DIR=${CMAKE_CURRENT_BINARY_DIR}/bootstrap
        -P ${CMAKE_CURRENT_SOURCE_DIR}/bootstrap.cmake)
add_test(NAME house.a_bare_machine_gets_the_checkout_and_both_commands
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D WORK_DIR=${CMAKE_CURRENT_BINARY_DIR}/bare_machine
        -P ${CMAKE_CURRENT_SOURCE_DIR}/bare_machine.cmake)

find_program(ASIO_RETRY_PYTHON python3 DOC "python3, to drive a browser")
if(ASIO_RETRY_PYTHON)
    add_test(NAME house.no_ten_lines_stand_twice_in_tests
        COMMAND ${ASIO_RETRY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/copies.py ${CMAKE_CURRENT_SOURCE_DIR})
    add_test(NAME house.delays_fit_in_their_time_limits
        COMMAND ${ASIO_RETRY_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/time_limits.py ${PROJECT_SOURCE_DIR})
    add_test(NAME golden.scripts_print_their_rows COMMAND ${CMAKE_COMMAND} -D PYTHON=${ASIO_RETRY_PYTHON}
        -P ${CMAKE_CURRENT_SOURCE_DIR}/golden/scripts.cmake)
endif()

add_test(NAME house.promises_are_tested
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/promises.cmake)

add_test(NAME house.pages_are_short_and_linked
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D SOVERSION=$<TARGET_PROPERTY:asio_retry,SOVERSION>
        -D VERSION_FILE=${PROJECT_BINARY_DIR}/asio_retry-config-version.cmake
        -P ${CMAKE_CURRENT_SOURCE_DIR}/pages.cmake)

add_test(NAME house.pictures_say_what_the_code_does
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/pictures.cmake)

if(NOT ASIO_RETRY_SANITIZE) # where tests have no names of their own
    add_test(NAME house.names_of_tests_can_be_read
        COMMAND ${CMAKE_COMMAND} -D CTEST=${CMAKE_CTEST_COMMAND} -D BUILD_DIR=${PROJECT_BINARY_DIR}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/test_names.cmake)
endif()

add_test(NAME house.toolchains_are_listed
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/toolchains.cmake)
add_test(NAME house.a_proof_writes_its_row
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D WORK_DIR=${CMAKE_CURRENT_BINARY_DIR}/proofs
        -P ${CMAKE_CURRENT_SOURCE_DIR}/proofs.cmake)
