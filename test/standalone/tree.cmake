# write_tree(ROOT PREFIX TOOLCHAIN): a tree like that of vcpkg: where its packages are installed, and the toolchain file
# with which CMake finds them.
function(write_tree root prefix toolchain)
    set(installed ${root}/installed/x64-linux)
    set(file ${root}/scripts/buildsystems/vcpkg.cmake)
    file(MAKE_DIRECTORY ${installed})
    file(WRITE ${file} "list(APPEND CMAKE_PREFIX_PATH \"${installed}\" \"${installed}/debug\")
list(APPEND CMAKE_FIND_ROOT_PATH \"${installed}\")
")
    set(${prefix} ${installed} PARENT_SCOPE)
    set(${toolchain} ${file} PARENT_SCOPE)
endfunction()
