# Each signal that ends the service lets it finish, and so it ends with status 0 and has told of every job.
foreach(signal INT TERM)
    execute_process(
        COMMAND sh -c "said=$(mktemp); '${PROGRAM}' >$said & pid=$!
            until grep -q 'taking jobs' $said; do sleep 0.1; done
            sleep 0.3; kill -${signal} $pid; wait $pid; status=$?; cat $said; rm $said; exit $status"
        OUTPUT_VARIABLE output RESULT_VARIABLE status TIMEOUT 60)
    if(NOT status EQUAL 0 OR NOT output MATCHES "no more jobs.*[1-9][0-9]* jobs: [1-9][0-9]* completed, [0-9]+ cancelled")
        message(FATAL_ERROR "after SIG${signal} it ended with ${status}, and said:\n${output}")
    endif()
endforeach()
