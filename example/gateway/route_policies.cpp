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

/// Every policy must be one that requests can have, and the file must be whole. Throws std::exception.
std::vector<asio_retry::named_policy> policies_of(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw std::runtime_error("cannot be read");
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    std::vector<asio_retry::named_policy> all = asio_retry::parse_policies(text);
    if (text.back() != '\n')
        throw std::runtime_error("the last line has no end, so the file may be half written");
    for (asio_retry::named_policy const& each : all)
        if (!each.name.starts_with('/') || first_part(each.name) != each.name)
            throw std::runtime_error("the name " + each.name +
                                     " must be the first part of a path, such as /orders, or /");
    return all;
}

} // namespace

route_policies::route_policies(settings const& s, std::shared_ptr<asio_retry::retry_gate> gate,
                               asio_retry::retry_metrics& metrics)
    : configured_(s)
    , gate_(std::move(gate)) {
    if (s.policies.empty())
        return;
    try {
        book_.emplace(policies_of(s.policies));
    } catch (std::exception const& fault) {
        throw std::runtime_error("policies: " + s.policies + ": " + fault.what());
    }
    metrics.add_gauges("gateway_policy_reloads", "Reloads of the file of policies since the start.",
                       [this](asio_retry::gauge_sink const& add) {
                           add({{"result", "good"}}, static_cast<double>(good_));
                           add({{"result", "bad"}}, static_cast<double>(bad_));
                       });
}

asio_retry::retry_policy route_policies::of(std::string_view target) const {
    std::optional<asio_retry::retry_policy> own;
    if (book_)
        own = book_->find(first_part(target));
    if (book_ && !own)
        own = book_->find("/");
    auto const& policy = own ? *own : configured_.policy;
    return policy.gate(asio_retry::all_gates({gate_, policy.settings().gate}));
}

void route_policies::reload() {
    try {
        book_->reload(policies_of(configured_.policies));
        ++good_;
        std::osyncstream(std::cout) << "policies: " << configured_.policies << " is in force" << std::endl;
    } catch (std::exception const& fault) {
        ++bad_;
        std::osyncstream(std::cerr) << "gateway: policies: " << configured_.policies << ": " << fault.what()
                                    << "; the old policies stay" << std::endl;
    }
}

} // namespace gateway
