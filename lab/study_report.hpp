#pragma once

#include "tool/plot.hpp"

#include <limits>
#include <string>
#include <vector>

namespace asio_retry::lab {

using tool::plot;
using tool::point;

/// A figure for something that did not happen.
inline constexpr double never = std::numeric_limits<double>::quiet_NaN();

/// One row of figures for each setting.
struct figure_table {
    struct row {
        std::string setting;
        std::vector<double> figures;
    };

    std::vector<std::string> columns; ///< without the column of the setting
    std::vector<row> rows;
};

/// The results of a study.
struct study_report {
    std::string title;
    figure_table figures;
    figure_table course; ///< the points of the charts, if they differ from the figures
    std::vector<plot> charts;
};

} // namespace asio_retry::lab
