#pragma once

namespace asio_retry::tool {

/// Runs asio-retry, which explains policies and lists the known ones. Returns its exit status.
int run_asio_retry(int argc, char** argv);

} // namespace asio_retry::tool
