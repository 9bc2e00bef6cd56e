#include "world/round.hpp"

#include "stress/watchdog.hpp"

#include <asio_retry/random.hpp>

#include <boost/program_options.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>

/// Plays rounds, those in virtual time twice. `--seed S --rounds 1 --verbose` plays one again.
int main(int argc, char** argv) try {
    namespace po = boost::program_options;
    std::uint64_t seed = asio_retry::entropy_seed() % 1'000'000'000, rounds = 10'000;
    unsigned seconds = 0;
    po::options_description description("world");
    description.add_options()("help", "say this")("seed", po::value(&seed), "of the first round")(
        "rounds", po::value(&rounds), "how many rounds to play")(
        "seconds", po::value(&seconds),
        "play as many rounds as begin in this time instead")("verbose", "print what happens in virtual time");
    po::variables_map options;
    po::store(po::parse_command_line(argc, argv, description), options);
    po::notify(options);
    if (options.contains("help")) {
        std::cout << description;
        return 0;
    }

    std::cout << "world --seed " << seed << std::endl;
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::uint64_t played = 0, handlers = 0, attempts = 0, events = 0, failed = 0;
    asio_retry::test::watchdog dog(
        [&](std::ostream& out) { out << "round " << seed + played << " of this world"; });
    for (; seconds == 0 ? played != rounds : std::chrono::steady_clock::now() < end; ++played, dog.moved()) {
        asio_retry::world::round round(seed + played);
        round.play();
        handlers += round.handlers();
        attempts += round.attempts();
        events += round.events().size();
        if (options.contains("verbose"))
            round.events().print(std::cout);
        auto violations = round.violations();
        if (round.is_virtual()) {
            asio_retry::world::round again(seed + played);
            again.play();
            if (again.events().hash() != round.events().hash())
                violations.push_back("the same seed makes two different rounds");
        }
        failed += !violations.empty();
        for (auto const& violation : violations)
            if (failed <= 10)
                std::cout << "world --rounds 1 --verbose --seed " << seed + played << ": " << violation
                          << std::endl;
    }
    std::cout << played << " rounds: " << handlers << " handlers, " << attempts << " attempts, " << events
              << " events; " << failed << " rounds failed\n";
    return failed == 0 ? 0 : 1;
} catch (std::exception const& e) {
    std::cerr << "world: " << e.what() << "\n";
    return 2;
}
