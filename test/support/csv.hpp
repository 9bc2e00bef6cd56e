#pragma once

#include "support/places.hpp"

#include <cstddef>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {

/// The cells of one line, by the name of their column.
using csv_row = std::map<std::string, std::string>;

/// What stands between commas; in quotation marks also commas, and doubled quotation marks.
inline std::vector<std::string> csv_cells(std::string const& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') {
            if (quoted && i + 1 < line.size() && line[i + 1] == '"')
                cells.back() += line[++i];
            else
                quoted = !quoted;
        } else if (line[i] == ',' && !quoted) {
            cells.emplace_back();
        } else if (line[i] != '\r') {
            cells.back() += line[i];
        }
    }
    return cells;
}

/// The lines of golden/`name`, whose first line names the columns.
inline std::vector<csv_row> read_csv(std::string const& name) {
    std::string const path = file_of_project("test/golden/" + name);
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    std::string line;
    std::getline(file, line);
    std::vector<std::string> const columns = csv_cells(line);
    std::vector<csv_row> rows;
    while (std::getline(file, line)) {
        std::vector<std::string> const cells = csv_cells(line);
        csv_row row;
        for (std::size_t i = 0; i < columns.size(); ++i)
            row[columns[i]] = cells.at(i);
        rows.push_back(row);
    }
    return rows;
}

} // namespace asio_retry::test
