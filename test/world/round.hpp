#pragma once

#include "world/endings.hpp"
#include "world/operations.hpp"
#include "world/place.hpp"
#include "world/shared.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace asio_retry::world {

/// A seed decides everything but the order in which threads come.
///
/// One thread in virtual time, or up to three in real time, use two contexts: they start operations of all
/// forms, complete or drop their attempts, cancel, and change what the operations share. The second context may
/// end in the middle. Then all that is left is ended, and everything has to balance.
class round {
public:
    explicit round(std::uint64_t seed);

    void play();

    std::vector<std::string> const& violations() const noexcept { return violations_; }
    std::size_t handlers() const { return endings_.size(); }
    std::uint64_t attempts() const noexcept { return shared_.attempts(); }

private:
    void work(int thread);
    void step(place& where, choices& dice);
    void use(place& where, choices& dice);
    void run_some(place& where, choices& dice);
    void advance(duration by);
    void end_all();
    bool run_to_the_end();

    choices dice_;
    int const threads_; // none: one, in virtual time
    bool const is_virtual_ = threads_ == 0;
    duration const unit_;
    int const ends_at_; // the step of the first thread
    std::uint64_t const seed_;
    endings endings_;
    shared_things shared_;
    place places_[2];
    std::mutex mutex_;
    std::vector<std::string> violations_;
};

} // namespace asio_retry::world
