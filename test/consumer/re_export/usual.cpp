#include <embedder.hpp>

namespace {

// So the program is linked with the library that embeds asio_retry, and not only with what that brings.
asio_retry::retry_policy const usual = usual_policy();

} // namespace
