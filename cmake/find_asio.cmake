# Makes the target asio_retry::asio, of the headers of Asio without Boost; without them it says why in
# asio_retry_asio_problem. CMAKE_PREFIX_PATH is searched, or ASIO_RETRY_ASIO_INCLUDE_DIR says where asio.hpp is.
find_path(ASIO_RETRY_ASIO_INCLUDE_DIR asio/version.hpp DOC "The folder of asio.hpp, of Asio without Boost")
set(asio_retry_asio_version 0)
if(ASIO_RETRY_ASIO_INCLUDE_DIR)
    file(STRINGS ${ASIO_RETRY_ASIO_INCLUDE_DIR}/asio/version.hpp asio_retry_asio_version
        REGEX "^#define ASIO_VERSION [0-9]+")
    string(REGEX REPLACE "^#define ASIO_VERSION ([0-9]+).*" "\\1" asio_retry_asio_version "${asio_retry_asio_version}")
endif()
if(NOT ASIO_RETRY_ASIO_INCLUDE_DIR)
    set(asio_retry_asio_problem
        "asio_retry_standalone needs Asio: add its prefix to CMAKE_PREFIX_PATH, or set ASIO_RETRY_ASIO_INCLUDE_DIR")
elseif(asio_retry_asio_version LESS 103000)
    set(asio_retry_asio_problem
        "asio_retry_standalone needs Asio 1.30 or newer, which that in ${ASIO_RETRY_ASIO_INCLUDE_DIR} is not")
elseif(NOT TARGET asio_retry::asio)
    add_library(asio_retry::asio INTERFACE IMPORTED GLOBAL)
    target_include_directories(asio_retry::asio SYSTEM INTERFACE ${ASIO_RETRY_ASIO_INCLUDE_DIR})
endif()
