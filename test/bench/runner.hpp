#pragma once

#include "result.hpp"
#include "workload.hpp"

#include <cstddef>

namespace asio_retry::bench {

/// Says on stderr how far it is.
class progress {
public:
    explicit progress(std::vector<workload> const& all);

    template <typename Run>
    auto step(std::string const& what, Run const& run) {
        begin(what);
        auto result = run();
        end();
        return result;
    }

private:
    void begin(std::string const& what);
    void end();

    std::size_t steps_ = 0;
    std::size_t step_ = 0;
    double began_ = 0;
};

/// Measures the contenders in turn, again and again, and takes the median of each figure.
rows run(workload const& which, progress& shown);

} // namespace asio_retry::bench
