#include "budget.hpp"

#include <stdexcept>

namespace gateway {

budget_of_retries budget_of_a_fleet(shared_store const&, boost::asio::any_io_executor const&,
                                    asio_retry::retry_metrics&) {
    throw std::runtime_error("budget: this gateway was built without hiredis, and cannot ask a Redis");
}

} // namespace gateway
