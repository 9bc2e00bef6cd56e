#pragma once

#include "plot.hpp"

#include <limits>
#include <string>
#include <vector>

namespace asio_retry::tool {

/// In a table of figures: it did not happen.
inline constexpr double never = std::numeric_limits<double>::quiet_NaN();

/// A figure of each column for each setting.
struct figure_table {
    struct row {
        std::string setting;
        std::vector<double> figures;
    };

    std::vector<std::string> columns; ///< without the setting's
    std::vector<row> rows;
};

/// What a study has found.
struct study_report {
    std::string title;
    figure_table figures;
    figure_table course; ///< the points of the charts, if the figures are not
    std::vector<plot> charts;
};

} // namespace asio_retry::tool
