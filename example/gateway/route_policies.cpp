#include "route_policies.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <syncstream>
#include <utility>

namespace gateway {
namespace {

std::string_view first_part(std::string_view target) {
    return target.substr(0, std::min(target.find_first_of("/?", 1), target.size()));
}

/// Throws std::exception.
std::string content_of(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw std::runtime_error("cannot be read");
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

route_policies::route_policies(settings const& s, std::shared_ptr<asio_retry::retry_gate> gate,
                               asio_retry::retry_metrics& metrics)
    : configured_(s)
    , gate_(std::move(gate))
    , usual_(s.policy.gate(asio_retry::all_gates({gate_, s.policy.settings().gate}))) {
    if (s.policies.empty())
        return;
    try {
        book_.emplace(read_file());
    } catch (std::exception const& fault) {
        throw std::runtime_error("policies: " + s.policies + ": " + fault.what());
    }
    add_gauge(metrics, "good", &reload_counts::good);
    add_gauge(metrics, "bad", &reload_counts::bad);
}

void route_policies::add_gauge(asio_retry::retry_metrics& metrics, char const* result,
                               std::atomic<std::uint64_t> reload_counts::* count) const {
    metrics.add_gauge("gateway_policy_reloads", "Reloads of the file of policies since the start.",
                      {{"result", result}},
                      [counts = counts_, count] { return static_cast<double>((*counts.*count).load()); });
}

asio_retry::retry_policy route_policies::of(std::string_view target) const {
    if (!book_)
        return usual_;
    if (auto const own = book_->find(first_part(target)))
        return with_gate(*own);
    auto const other = book_->find("/");
    return other ? with_gate(*other) : usual_;
}

/// A policy with a rate limit has no other gate in the book, which so keeps the limit over a reload.
asio_retry::retry_policy route_policies::with_gate(asio_retry::retry_policy const& policy) const {
    auto const& own = policy.settings().gate;
    return own == gate_ ? policy : policy.gate(asio_retry::all_gates({gate_, own}));
}

void route_policies::reload() {
    try {
        book_->reload(read_file());
        ++counts_->good;
        std::osyncstream(std::cout) << "policies: " << configured_.policies << " is in force" << std::endl;
    } catch (std::exception const& fault) {
        ++counts_->bad;
        std::osyncstream(std::cerr) << "gateway: policies: " << configured_.policies << ": " << fault.what()
                                    << "; the old policies stay" << std::endl;
    }
}

/// Every policy of the file must be one that requests can have, and the file must be whole.
std::vector<asio_retry::named_policy> route_policies::read_file() const {
    std::string const text = content_of(configured_.policies);
    std::vector<asio_retry::named_policy> all = asio_retry::parse_policies(text);
    if (text.back() != '\n')
        throw std::runtime_error("the last line has no end, so the file may be half written");
    for (asio_retry::named_policy& each : all) {
        if (!each.name.starts_with('/') || first_part(each.name) != each.name)
            throw std::runtime_error("the name " + each.name +
                                     " must be the first part of a path, such as /orders, or /");
        if (!each.policy.settings().gate)
            each.policy = each.policy.gate(gate_); // costs a request less than a setter
    }
    return all;
}

} // namespace gateway
