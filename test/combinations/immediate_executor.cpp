#include "combinations/combination.hpp"

#include <boost/asio/version.hpp>
#if BOOST_ASIO_VERSION >= 102700
#include <boost/asio/bind_immediate_executor.hpp>

namespace asio_retry::test {

/// Runs functions where they stand.
struct in_place_executor {
    template <typename Function>
    void execute(Function&& function) const {
        std::forward<Function>(function)();
    }
    asio::execution_context& query(asio::execution::context_t) const { return *context; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) {
        return asio::execution::blocking.always;
    }
    friend bool operator==(in_place_executor const&, in_place_executor const&) = default;
    asio::execution_context* context;
};

namespace {

// From Asio 1.27 on a handler says where a completion inside the initiating function goes.
constexpr int immediate = 3;

COMBINATION_TEST(immediate_executor, runs_the_handler_of_a_plain_operation_that_succeeds_at_once,
                 all_combinations<>) {
    try_out<Combination>([](auto& t) {
        asio::io_context unused;
        tracking_executor const executor(in_place_executor{&unused}, immediate);
        async_retry(t.given_executor(), t.operation(), t.policy(),
                    asio::bind_immediate_executor(executor, t.handler()));
        // A judged result is judged on the executor first.
        using form = typename Combination::form;
        bool const at_once = !form::has_steps && !form::is_judged && t.failures() == 0;
        if (at_once) {
            EXPECT_EQ(t.told().results().size(), 1u);
        }
        t.run_dry();
        t.expect_result();
        t.told().expect_called_on(at_once ? immediate : given);
    });
}

} // namespace
} // namespace asio_retry::test

#endif
