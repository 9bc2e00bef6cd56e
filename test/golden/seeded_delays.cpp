// Compares the delays that seeds give with the file named on the command line, or prints them. The file was
// printed by seeded_delays.py beside it, which works them out without the library.

#include <asio_retry/retry_machine.hpp>

#include <boost/system/errc.hpp>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_retry;
using namespace std::chrono_literals;

constexpr std::uint64_t greatest = asio_retry::random::max();

std::vector<std::pair<std::string, retry_policy>> policies() {
    auto const policy = [](backoff const& shape, jitter const& kind) {
        return retry_policy().backoff(shape).jitter(kind);
    };
    return {
        {"default", retry_policy()},
        {"constant_full", policy(constant(1s), full_jitter())},
        {"linear_full", policy(linear(250ms, 125ms).cap(1s), full_jitter())},
        {"exponential_none", policy(exponential(333'333'333ns, 1.1), no_jitter())},
        {"exponential_equal", policy(exponential(100ms, 1.5).cap(3s), equal_jitter())},
        {"exponential_full_uncapped", policy(exponential(1s, 10), full_jitter())},
        {"exponential_decorrelated", policy(exponential(100ms).cap(10s), decorrelated_jitter())},
        {"decorrelated_uncapped", policy(exponential(1ms), decorrelated_jitter())},
        {"proportional_half", policy(exponential(500ms, 1.5).cap(60s), proportional_jitter(0.5))},
        {"proportional_tenth", policy(exponential(77'777'777ns, 1.3).cap(1s), proportional_jitter(0.1))},
        {"proportional_one", policy(constant(duration::max()), proportional_jitter(1))},
        {"truncated_binary_full", policy(truncated_binary(10, 10s), full_jitter())},
        {"truncated_binary_equal", policy(truncated_binary(70, duration::max()), equal_jitter())},
    };
}

void print_delays(std::ostream& out) {
    verdict const failure = verdict::failure(make_error_code(boost::system::errc::connection_refused));
    out << "policy,seed,stream,failure,delay_ns\n";
    for (auto const& [name, policy] : policies())
        for (std::uint64_t seed : {std::uint64_t(0), std::uint64_t(42), greatest})
            for (std::uint64_t stream : {std::uint64_t(0), std::uint64_t(1), greatest}) {
                asio_retry::random source(seed, stream);
                retry_machine machine(policy.unlimited_attempts());
                machine.start();
                for (int failures = 1; failures <= 12; ++failures) {
                    duration const delay = machine.on_failure(failure, {}, source).delay;
                    out << name << ',' << seed << ',' << stream << ',' << failures << ',' << delay.count()
                        << '\n';
                    machine.on_wait_over({});
                }
            }
}

int compare(std::istream& drawn, std::istream& golden) {
    std::string ours, theirs;
    for (int line = 1;; ++line) {
        bool const more = static_cast<bool>(std::getline(drawn, ours));
        bool const more_expected = static_cast<bool>(std::getline(golden, theirs));
        if (more != more_expected || (more && ours != theirs)) {
            std::cerr << "line " << line << ": expected '" << (more_expected ? theirs : "the end")
                      << "', drew '" << (more ? ours : "the end") << "'\n";
            return 1;
        }
        if (!more) {
            std::cout << line - 1 << " lines agree\n";
            return 0;
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        print_delays(std::cout);
        return 0;
    }
    std::ifstream golden(argv[1]);
    if (!golden) {
        std::cerr << "cannot read " << argv[1] << '\n';
        return 1;
    }
    std::stringstream drawn;
    print_delays(drawn);
    return compare(drawn, golden);
}
