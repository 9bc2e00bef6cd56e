#include "simulation/world.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>

/// Runs programs that seeds decide, each twice. `--seed S --verbose` replays one and prints what happened.
int main(int argc, char** argv) try {
    namespace po = boost::program_options;
    using asio_retry::simulation::world;
    std::uint64_t seeds = 10'000, from = 0, only = 0;
    po::options_description description("simulation");
    description.add_options()("help", "say this")("seeds", po::value(&seeds), "how many seeds to run")(
        "from", po::value(&from), "the first of them")("seed", po::value(&only),
                                                       "run this one only")("verbose", "print what happened");
    po::variables_map options;
    po::store(po::parse_command_line(argc, argv, description), options);
    po::notify(options);
    if (options.contains("help")) {
        std::cout << description;
        return 0;
    }
    if (options.contains("seed")) {
        from = only;
        seeds = 1;
    }

    std::uint64_t failed = 0, operations = 0, attempts = 0, events = 0;
    for (std::uint64_t seed = from; seed != from + seeds; ++seed) {
        world first(seed), second(seed);
        first.run();
        second.run();
        bool const repeats = first.events().hash() == second.events().hash();
        operations += first.operations();
        attempts += first.attempts();
        events += first.events().size();
        if (options.contains("verbose"))
            first.events().print(std::cout);
        if (first.violations().empty() && repeats)
            continue;
        ++failed;
        if (failed > 10)
            continue;
        std::cout << "seed " << seed << " fails; replay it with: simulation --seed " << seed << " --verbose\n";
        for (auto const& violation : first.violations())
            std::cout << "  " << violation << "\n";
        if (!repeats)
            std::cout << "  the same seed makes two different runs\n";
    }
    std::cout << seeds << " seeds: " << operations << " operations, " << attempts << " attempts, " << events
              << " events; " << failed << " seeds failed\n";
    return failed == 0 ? 0 : 1;
} catch (std::exception const& e) {
    std::cerr << "simulation: " << e.what() << "\n";
    return 2;
}
