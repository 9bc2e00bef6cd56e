#pragma once

#include "options.hpp"

#include "../text/shown_text.hpp"

#include <charconv>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace asio_retry::tool {

/// The values that a command line gives to the options of a command.
class given_options {
public:
    /// Throws usage_error.
    given_options(std::string const& command, std::vector<std::string> const& words);

    std::vector<std::string> const& operands() const { return operands_; }
    bool has(std::string const& option) const { return values_.contains(option); }

    /// The option's values; empty if it is not given.
    std::vector<std::string> const& all(std::string const& option) const;

    /// Leaves `into` unchanged if the option is not given.
    void read(std::string const& option, std::string& into) const;

    /// Reads a whole number in that range. A stream would read -1 as a large number.
    template <typename Number, typename Into>
    void read(std::string const& option, Into& into, Number least,
              Number greatest = std::numeric_limits<Number>::max()) const {
        if (has(option))
            into = whole(option, all(option).front(), least, greatest);
    }

    template <typename Number>
    static Number whole(std::string const& option, std::string const& text, Number least, Number greatest) {
        Number number{};
        char const* const end = text.data() + text.size();
        auto const [rest, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc() || rest != end || number < least || number > greatest)
            throw usage_error("--" + option + " " + detail::shown(text) +
                              ": must be a whole number of at least " + std::to_string(least) +
                              " and at most " + std::to_string(greatest));
        return number;
    }

private:
    std::map<std::string, std::vector<std::string>> values_;
    std::vector<std::string> operands_;
};

} // namespace asio_retry::tool
