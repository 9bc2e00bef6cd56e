#pragma once

#include <string>
#include <vector>

namespace asio_retry::tool {

struct point {
    double x, y;
};

/// Curves over one pair of axes, as SVG.
class plot {
public:
    /// Both axes begin at zero. With `least_y` above zero, y begins there and is logarithmic.
    plot(std::string title, std::string x_title, std::string y_title, double least_y = 0);

    void add_band(std::vector<point> low, std::vector<point> const& high, std::string label);
    void add_line(std::vector<point> points, std::string label);

    /// Adds a line that does not extend the axes: points beyond them are not drawn.
    void add_guide(std::vector<point> points, std::string label);
    void add_dots(std::vector<point> points, std::string label);

    /// Adds a few points, drawn as marks.
    void add_marks(std::vector<point> points, std::string label);

    static constexpr int width = 460;
    static constexpr int height = 330;

    /// `height`, or more if a long legend would leave the curves too little room.
    int needed_height() const;

    /// An SVG group with its upper left corner at the origin.
    std::string group(int tall = height) const;

private:
    enum class kind { band, line, guide, dots, marks };
    struct curve {
        kind what;
        std::vector<point> points;
        std::string label;
    };

    void add(kind what, std::vector<point> points, std::string label);
    std::vector<point> legend(int tall) const;

    std::string title_, x_title_, y_title_;
    double least_y_;
    std::vector<curve> curves_;
};

/// An SVG document with plots side by side.
std::string svg_of(std::string const& title, std::vector<plot> const& plots);

} // namespace asio_retry::tool
