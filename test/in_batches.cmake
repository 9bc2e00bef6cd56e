# Folders whose tests are one file together: a quarter of what is compiled for them is the same.
set(batch_of_handlers hedge attempt scope ticker pool time schemes)
set(batch_of_policies policy callables blocking)
set(batch_of_gates text observe traffic)

# in_batches(target): compiles the files of a folder as one, so their names have to differ. To g++ such files are
# headers, in which it warns of types of unnamed namespaces; compiled one by one they are without warnings.
function(in_batches target)
    if(NOT ASIO_RETRY_TEST_BATCHES)
        return()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    get_target_property(files ${target} SOURCES)
    set(number 0)
    foreach(file IN LISTS files)
        cmake_path(ABSOLUTE_PATH file OUTPUT_VARIABLE folder)
        cmake_path(GET folder PARENT_PATH folder)
        cmake_path(GET folder FILENAME folder)
        set(group ${folder})
        if(NOT MINGW) # where the names of so many sections do not fit into one object
            foreach(batch handlers policies gates)
                if(folder IN_LIST batch_of_${batch})
                    set(group ${batch})
                endif()
            endforeach()
        elseif(folder MATCHES "^(hedge|policy)$") # nor do all of theirs
            math(EXPR number "${number} + 1")
            math(EXPR pair "${number} / 2")
            set(group ${folder}_${pair})
        endif()
        if(NOT folder STREQUAL "support" AND NOT (MINGW AND folder STREQUAL "operation")) # nor those of two of its files
            set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${group})
        endif()
    endforeach()
endfunction()
