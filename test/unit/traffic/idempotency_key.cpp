#include <asio_retry/traffic/idempotency_key.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace asio_retry::test {
namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t(0);

TEST(idempotency_key, is_written_as_a_uuid) {
    // The example of RFC 9562, A.3.
    EXPECT_EQ(idempotency_key(0x919108f752d14320, 0x9bacf847db4148a8).to_string(),
              "919108f7-52d1-4320-9bac-f847db4148a8");
    EXPECT_EQ(idempotency_key(0x0123456789ab4def, 0x8123456789abcdef).to_string(),
              "01234567-89ab-4def-8123-456789abcdef");
}

TEST(idempotency_key, is_of_version_4_whatever_its_bits_are) {
    EXPECT_EQ(idempotency_key(0, 0).to_string(), "00000000-0000-4000-8000-000000000000");
    EXPECT_EQ(idempotency_key(all_bits, all_bits).to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
}

TEST(idempotency_key, every_other_bit_counts) {
    idempotency_key const zero(0, 0);
    for (int bit = 0; bit < 64; ++bit) {
        std::uint64_t const one = std::uint64_t(1) << bit;
        bool const is_version = 12 <= bit && bit < 16, is_variant = 62 <= bit;
        EXPECT_EQ(idempotency_key(one, 0) == zero, is_version) << bit;
        EXPECT_EQ(idempotency_key(0, one) == zero, is_variant) << bit;
        EXPECT_EQ(idempotency_key(one, 0).to_string() == zero.to_string(), is_version) << bit;
        EXPECT_EQ(idempotency_key(0, one).to_string() == zero.to_string(), is_variant) << bit;
    }
}

TEST(idempotency_key, is_a_quoted_string_in_its_field) {
    EXPECT_EQ(idempotency_key_field, "Idempotency-Key");
    EXPECT_EQ(idempotency_field_value(idempotency_key(0, 0)), "\"00000000-0000-4000-8000-000000000000\"");
}

TEST(idempotency_key, scheme_G7_random_ones_differ_and_use_all_bits) {
    std::set<std::string> seen;
    std::string lowest(36, 'g'), highest(36, ' ');
    for (int i = 0; i < 1000; ++i) {
        std::string const key = idempotency_key::random().to_string();
        ASSERT_EQ(key.size(), lowest.size()) << key;
        ASSERT_EQ(key.find_first_not_of("0123456789abcdef-"), std::string::npos) << key;
        EXPECT_TRUE(seen.insert(key).second) << key;
        for (std::size_t at = 0; at < key.size(); ++at) {
            lowest[at] = std::min(lowest[at], key[at]);
            highest[at] = std::max(highest[at], key[at]);
        }
    }
    // So hyphens, the version and the variant are where they have to be. And of a thousand, no place misses a
    // digit that it may have but once in 10^26 times.
    EXPECT_EQ(lowest, "00000000-0000-4000-8000-000000000000");
    EXPECT_EQ(highest, "ffffffff-ffff-4fff-bfff-ffffffffffff");
}

TEST(idempotency_key, halves_of_random_ones_are_drawn_apart) {
    int alike = 0;
    for (int i = 0; i < 1000; ++i) {
        std::string const key = idempotency_key::random().to_string();
        alike += key.substr(15, 3) == key.substr(33, 3); // the last twelve bits of each half
    }
    EXPECT_LT(alike, 100);
}

#ifndef _WIN32 // which has no fork

// There is no state that a copy of the process would have too.
TEST(idempotency_key, random_ones_of_forked_processes_differ) {
    (void)idempotency_key::random();
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::pid_t const child = ::fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
        std::string const key = idempotency_key::random().to_string();
        ::_exit(::write(ends[1], key.data(), key.size()) == 36 ? 0 : 1);
    }
    std::string const own = idempotency_key::random().to_string();
    std::string other(36, ' ');
    EXPECT_EQ(::read(ends[0], other.data(), other.size()), 36);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_NE(own, other);
    ::close(ends[0]);
    ::close(ends[1]);
}

#endif

} // namespace
} // namespace asio_retry::test
