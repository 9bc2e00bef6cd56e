#include "peers.hpp"

#include "json.hpp"

#include <fstream>
#include <vector>

namespace asio_retry::bench {
namespace {

void add(report& all, row line, std::set<std::string> const& chosen) {
    if (line.workload == "zero_delay")
        line.workload = "zero_delay_1"; // they run one operation at a time
    if (line.workload.empty())
        all.notes.push_back(line.contender + ": " + line.unavailable);
    else if (chosen.contains(line.workload))
        all.results.push_back(line);
}

} // namespace

void add_peers(report& all, std::filesystem::path const& folder, std::set<std::string> const& chosen) {
    std::set<std::filesystem::path> files;
    if (std::filesystem::is_directory(folder))
        for (auto const& entry : std::filesystem::directory_iterator(folder))
            if (entry.path().extension() == ".jsonl")
                files.insert(entry.path());
    if (files.empty())
        all.notes.push_back("The peers of other languages were not measured.");
    for (auto const& file : files) {
        std::ifstream input(file);
        for (std::string line; std::getline(input, line);) {
            try {
                if (!line.empty())
                    add(all, row_from_json(line), chosen);
            } catch (std::exception const& e) {
                all.notes.push_back(file.filename().string() + ": a line cannot be read: " + e.what());
            }
        }
    }
}

} // namespace asio_retry::bench
