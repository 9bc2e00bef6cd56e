#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {

/// The cells of one line, by the name of their column.
using csv_row = std::map<std::string, std::string>;

/// The lines of golden/`name`, whose first line names the columns. No quotation marks, no empty last cells.
inline std::vector<csv_row> read_csv(std::string const& name) {
    std::ifstream file(ASIO_RETRY_GOLDEN_DIR "/" + name);
    if (!file)
        throw std::runtime_error("cannot read " ASIO_RETRY_GOLDEN_DIR "/" + name);
    auto const cells_of = [](std::string const& line) {
        std::vector<std::string> cells;
        std::istringstream rest(line);
        for (std::string cell; std::getline(rest, cell, ',');)
            cells.push_back(cell);
        return cells;
    };
    std::string line;
    std::getline(file, line);
    std::vector<std::string> const columns = cells_of(line);
    std::vector<csv_row> rows;
    while (std::getline(file, line)) {
        std::vector<std::string> const cells = cells_of(line);
        csv_row row;
        for (std::size_t i = 0; i < columns.size(); ++i)
            row[columns[i]] = cells.at(i);
        rows.push_back(row);
    }
    return rows;
}

} // namespace asio_retry::test
