#include "support/matches.hpp"

#include <regex>

std::vector<std::vector<std::string>> asio_retry::test::all_matches(std::string const& text,
                                                                    std::string const& pattern) {
    std::regex const searched(pattern);
    std::vector<std::vector<std::string>> all;
    for (auto match = std::sregex_iterator(text.begin(), text.end(), searched); match != std::sregex_iterator();
         ++match)
        all.emplace_back(match->begin(), match->end());
    return all;
}
