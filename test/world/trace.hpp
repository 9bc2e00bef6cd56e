#pragma once

#include <asio_retry/duration.hpp>

#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

namespace asio_retry::world {

/// What happened in a run, in order; equal hashes mean equal runs.
class trace {
public:
    /// Of several threads nothing is written down.
    explicit trace(bool is_kept) noexcept
        : is_kept_(is_kept) {}

    void add(duration at, std::size_t who, std::string_view what, std::int64_t a = 0, std::int64_t b = 0) {
        if (!is_kept_)
            return;
        entries_.push_back({at, who, what, a, b});
        mix(static_cast<std::uint64_t>(at.count()));
        mix(who);
        for (char const c : what)
            mix(static_cast<unsigned char>(c));
        mix(static_cast<std::uint64_t>(a));
        mix(static_cast<std::uint64_t>(b));
    }

    std::uint64_t hash() const noexcept { return hash_; }
    std::size_t size() const noexcept { return entries_.size(); }

    void print(std::ostream& out) const {
        for (entry const& e : entries_)
            out << e.at.count() << " ns  #" << e.who << " " << e.what << " " << e.a << " " << e.b << "\n";
    }

private:
    struct entry {
        duration at;
        std::size_t who;
        std::string_view what; // a literal
        std::int64_t a, b;
    };

    void mix(std::uint64_t value) noexcept { hash_ = (hash_ ^ value) * 0x100000001b3u; } // FNV-1a by words

    bool const is_kept_;
    std::vector<entry> entries_;
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

} // namespace asio_retry::world
