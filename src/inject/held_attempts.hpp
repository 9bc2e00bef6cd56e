#pragma once

#include <asio_retry/detail/inject/injected_fault.hpp>
#include <asio_retry/fault_plan.hpp>

#include <mutex>

namespace asio_retry::detail {

template <typename Begin>
bool fault_access::hold(fault_plan& plan, held_attempt& attempt, injected_fault const& fault, Begin begin) {
    std::lock_guard const lock(plan.mutex_);
    if (is_over(plan, fault))
        return false;
    if (begin())
        plan.held_.push_back(attempt);
    return true;
}

} // namespace asio_retry::detail
