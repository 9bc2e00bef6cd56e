#pragma once

#include "xml_text.hpp"

#include <cstdio>
#include <string>

namespace asio_retry::tool {

/// A text element of SVG, whose base line begins there.
inline std::string svg_text(double x, double y, std::string const& attributes, std::string const& content) {
    char place[96];
    std::snprintf(place, sizeof place, "<text x=\"%.1f\" y=\"%.1f\" ", x, y);
    return place + attributes + ">" + xml_escaped(content) + "</text>\n";
}

} // namespace asio_retry::tool
