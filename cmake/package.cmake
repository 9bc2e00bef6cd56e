# What finds the libraries where they are installed, or in the build tree: one package, whichever of them there are.
configure_package_config_file(cmake/asio_retry-config.cmake.in asio_retry-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/asio_retry)
write_basic_package_version_file(asio_retry-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/find_asio.cmake asio_retry-find_asio.cmake COPYONLY)
if(ASIO_RETRY_INSTALL)
    install(FILES
        ${CMAKE_CURRENT_BINARY_DIR}/asio_retry-config.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/asio_retry-config-version.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/asio_retry-find_asio.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/asio_retry)
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
if(PROJECT_IS_TOP_LEVEL)
    set(CPACK_GENERATOR TGZ)
    set(CPACK_VERBATIM_VARIABLES ON)
    set(CPACK_PACKAGE_VENDOR "The asio_retry project")
    set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
    set(CPACK_SOURCE_GENERATOR TGZ)
    set(CPACK_SOURCE_IGNORE_FILES "/build/;/\\.git/")
    include(CPack)
endif()
