# Draws each study for doc/traffic/studies.md: cmake -D PROGRAM=.../asio-retry -D FOLDER=doc/studies -P study_charts.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "simulate [a-z]+" names "${help}")
file(MAKE_DIRECTORY ${FOLDER})
foreach(name IN LISTS names)
    string(REPLACE "simulate " "" name "${name}")
    if(name STREQUAL "occ" OR name STREQUAL "rounds") # which show what others have published
        continue()
    endif()
    execute_process(COMMAND ${PROGRAM} simulate ${name} --format svg
        OUTPUT_FILE ${FOLDER}/${name}_study.svg COMMAND_ERROR_IS_FATAL ANY)
endforeach()
