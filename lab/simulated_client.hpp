#pragma once

#include <asio_retry/random.hpp>
#include <asio_retry/retry_machine.hpp>

namespace asio_retry::lab {

/// A client of a study, from its first attempt on.
struct simulated_client {
    simulated_client(retry_policy const& policy, random own)
        : machine(policy)
        , source(own) {
        machine.start();
    }

    retry_machine machine;
    random source;
};

} // namespace asio_retry::lab
