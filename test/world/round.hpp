#pragma once

#include "world/operations.hpp"
#include "world/place.hpp"
#include "world/planned.hpp"
#include "world/record.hpp"
#include "world/shared.hpp"
#include "world/trace.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace asio_retry::world {

/// A seed decides everything but the order in which threads come.
///
/// One thread in virtual time, or up to three in real time, use one or two contexts. They start operations of
/// all forms, complete or drop their attempts, cancel, use scopes, and change what the operations share. A
/// context may end in the middle. Then all that is left is ended, and everything has to balance.
///
/// In virtual time a model checks each step of the operations that share nothing. Most rounds are short, and
/// have few others.
class round {
public:
    explicit round(std::uint64_t seed);

    void play();

    std::vector<std::string> const& violations() const noexcept { return violations_.all(); }
    bool is_virtual() const noexcept { return is_virtual_; }
    trace const& events() const noexcept { return trace_; }
    std::size_t handlers() const { return records_.size(); }
    std::uint64_t attempts();

private:
    void work(int thread, dice& d);
    void step(place& where, dice& d);
    void act(place& where, dice& d, int what);
    void use(place& where, dice& d);
    void start(place& where, dice& d);
    void run_some(place& where, dice& d);
    void cut_off(place& where, dice& d);
    void advance(duration by);
    void end_all();
    void run_without_cancellation();
    bool run_to_the_end();
    void audit();

    dice dice_;
    bool const is_short_;
    int const threads_; // none: one, in virtual time
    bool const is_virtual_ = threads_ == 0;
    duration const unit_;
    int const steps_;
    int const ends_at_; // the step of the first thread
    std::uint64_t const seed_;
    trace trace_;
    class violations violations_;
    records records_;
    std::optional<shared_things> shared_; // by the operations of all contexts
    std::deque<place> places_;
};

} // namespace asio_retry::world
