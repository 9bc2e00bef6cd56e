#include <asio_retry/detail/operation/connection_race.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <cstddef>

namespace asio_retry::detail {

std::vector<tcp_endpoint> interleave_families(std::vector<tcp_endpoint> const& found) {
    if (found.empty())
        return found;
    std::vector<tcp_endpoint> of_first, others, taken;
    for (auto const& each : found)
        (each.protocol() == found.front().protocol() ? of_first : others).push_back(each);
    for (std::size_t i = 0; taken.size() != found.size(); ++i) {
        if (i < of_first.size())
            taken.push_back(of_first[i]);
        if (i < others.size())
            taken.push_back(others[i]);
    }
    return taken;
}

} // namespace asio_retry::detail
