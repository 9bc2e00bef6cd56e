# Draws each profile for doc/schemes.md: cmake -D PROGRAM=.../asio-retry -D FOLDER=doc/schemes -P scheme_charts.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} profiles --format csv OUTPUT_VARIABLE profiles COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n[a-z0-9_]+," names "${profiles}")
file(MAKE_DIRECTORY ${FOLDER})
foreach(name IN LISTS names)
    string(REGEX REPLACE "[\n,]" "" name "${name}")
    execute_process(COMMAND ${PROGRAM} explain ${name} --draws 10 --format svg
        OUTPUT_FILE ${FOLDER}/${name}.svg COMMAND_ERROR_IS_FATAL ANY)
endforeach()
