#pragma once

#include "xml_text.hpp"

#include <cstdio>
#include <string>

namespace asio_retry::tool {

/// An SVG text element; its base line begins there.
inline std::string svg_text(double x, double y, std::string const& attributes, std::string const& content) {
    char place[96];
    std::snprintf(place, sizeof place, "<text x=\"%.1f\" y=\"%.1f\" ", x, y);
    return place + attributes + ">" + xml_escaped(content) + "</text>\n";
}

/// The colours of a chart and its page, light or dark as the reader's. The page needs a colour, because a
/// browser shows a lone image on white in dark mode too. `light` and `dark` are the rules of the chart's own
/// classes.
inline std::string svg_page(std::string const& light, std::string const& dark) {
    return "<style>\nsvg { color-scheme: light dark }\n"
           ".page { fill: #ffffff } text { fill: #24292f } .soft { fill: #57606a } "
           ".grid { stroke: #8c959f; stroke-opacity: .35 }\n" +
           light +
           "@media (prefers-color-scheme: dark) {\n"
           ".page { fill: #14171c } text { fill: #e6edf3 } .soft { fill: #9198a1 }\n" +
           dark + "}\n</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";
}

} // namespace asio_retry::tool
