/// The workload of the test with a race: a cancellation that does not go through the operation's executor.
/// ThreadSanitizer has to find it, or its silence about the test means nothing.

#include "stress/four_threads.hpp"

int main() {
    asio_retry::test::four_threads workload(
        [](auto const&, auto const& signal) { signal->emit(boost::asio::cancellation_type::terminal); });
    workload.run(100'000);
}
