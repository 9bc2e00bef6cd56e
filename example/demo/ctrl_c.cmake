# Ctrl-C ends the demo at once, with status 0 and the totals.
execute_process(
    COMMAND sh -c "'${DEMO}' --seconds 60 & pid=$!; sleep 1; kill -INT $pid; wait $pid"
    OUTPUT_VARIABLE output RESULT_VARIABLE status TIMEOUT 20)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "the demo ended with status ${status}:\n${output}")
endif()
if(NOT output MATCHES "interrupted" OR NOT output MATCHES "requests [0-9]+: .*cancellations [0-9]+")
    message(FATAL_ERROR "the demo did not print its totals:\n${output}")
endif()
