#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace asio_retry::test {

/// A host of which the test decides where it is; the lookups of all others are the system's. One at a time.
class wandering_host {
public:
    static constexpr char const* name = "wandering.test";

    /// At which port on loopback each lookup in turn finds it, the last one for good; 0 is for not at all.
    explicit wandering_host(std::initializer_list<unsigned short> ports);

    /// At these addresses rather than on loopback, in this order, and always at the port of the lookup.
    void move_to(std::vector<std::string> addresses);

    /// Lets lookups go on that are held.
    ~wandering_host();
    wandering_host(wandering_host const&) = delete;
    wandering_host& operator=(wandering_host const&) = delete;

    /// From now on lookups do not return.
    void hold();

    /// Until they are released, which has to be before their context is destroyed.
    void release();

    /// Returns when so many lookups have begun.
    void await_lookups(std::size_t count) const;

    std::size_t lookups() const;
};

} // namespace asio_retry::test
