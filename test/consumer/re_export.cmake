# A library that embeds asio_retry and has it in its interface is used from its build tree, installed with asio_retry
# in its own export set, and installed beside asio_retry. consumer.add_subdirectory has built it, in EMBEDDER.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/project/ ${CMAKE_CURRENT_LIST_DIR}/re_export/usual.cpp
    DESTINATION ${WORK_DIR}/project)
file(WRITE ${WORK_DIR}/project/lines_of_the_guide.cmake
    "find_package(embedder REQUIRED)\ntarget_link_libraries(app PRIVATE embedder::embedder)\n"
    "target_sources(app PRIVATE usual.cpp)\n")

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(consume way)
    run(${CMAKE_COMMAND} -S ${WORK_DIR}/project -B ${WORK_DIR}/${way} -C ${CACHE} -G ${GENERATOR} -Werror=dev ${ARGN})
    run(${CMAKE_COMMAND} --build ${WORK_DIR}/${way} --config ${CONFIG} --parallel 1)
    find_program(app app PATHS ${WORK_DIR}/${way} ${WORK_DIR}/${way}/${CONFIG} NO_DEFAULT_PATH NO_CACHE REQUIRED)
    run(${app})
endfunction()

run(${CMAKE_COMMAND} --install ${EMBEDDER}/build --prefix ${WORK_DIR}/own_set_prefix --config ${CONFIG})
consume(build_tree -D embedder_ROOT=${EMBEDDER}/build -D asio_retry_ROOT=${EMBEDDER}/build/third_party/asio_retry)

run(${CMAKE_COMMAND} -D ASIO_RETRY_INSTALL=ON -Werror=dev ${EMBEDDER}/build)
run(${CMAKE_COMMAND} --build ${EMBEDDER}/build --config ${CONFIG} --parallel 1)
run(${CMAKE_COMMAND} --install ${EMBEDDER}/build --prefix ${WORK_DIR}/beside_prefix --config ${CONFIG})
file(RENAME ${EMBEDDER}/build ${WORK_DIR}/build_out_of_reach)
consume(own_set -D embedder_ROOT=${WORK_DIR}/own_set_prefix)
consume(beside -D embedder_ROOT=${WORK_DIR}/beside_prefix -D asio_retry_ROOT=${WORK_DIR}/beside_prefix)
