#pragma once

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

namespace asio_retry::test {

/// What is called, for a matcher of what a call throws: of one type, so that the matcher is compiled once.
/// Refers to the function.
class calling {
public:
    template <typename F>
    explicit calling(F const& function)
        : function_(&function)
        , call_([](void const* called) { static_cast<void>((*static_cast<F const*>(called))()); }) {}

    void operator()() const { call_(function_); }

private:
    void const* function_;
    void (*call_)(void const*);
};

/// That a call throws std::invalid_argument, whose message says this.
inline auto refuses(std::string const& message) {
    return testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(message));
}
inline auto refuses(std::string const& field, std::string const& value, std::string const& rule) {
    return testing::ThrowsMessage<std::invalid_argument>(
        testing::AllOf(testing::HasSubstr(field + " = " + value), testing::HasSubstr(rule)));
}

} // namespace asio_retry::test
