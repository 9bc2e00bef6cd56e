#pragma once

#include <asio_retry/duration.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry::test {

template <typename T>
struct element_of;
template <std::integral T>
struct element_of<T> {
    using type = long long;
};
template <typename Rep, typename Period>
struct element_of<std::chrono::duration<Rep, Period>> {
    using type = duration;
};
template <>
struct element_of<char const*> {
    using type = std::string;
};
template <>
struct element_of<std::string> {
    using type = std::string;
};

/// That a container has these elements, in this order: testing::ElementsAre of values, but compiled once for
/// each type of element and not for each list.
template <typename T>
class elements_are {
public:
    explicit elements_are(std::vector<T> expected)
        : expected_(std::move(expected)) {}

    template <typename Container>
    operator testing::Matcher<Container>() const {
        using element = typename std::remove_cvref_t<Container>::value_type;
        return testing::ElementsAreArray(std::vector<element>(expected_.begin(), expected_.end()));
    }

private:
    std::vector<T> expected_;
};

template <typename First, typename... Others>
auto elements(First first, Others... others) {
    using element = typename element_of<First>::type;
    return elements_are<element>({element(first), element(others)...});
}

} // namespace asio_retry::test
