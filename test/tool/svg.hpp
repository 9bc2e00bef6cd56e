#pragma once

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace asio_retry::tool {

inline void expect_well_formed(std::string const& svg) {
    std::istringstream in(svg);
    boost::property_tree::ptree tree;
    ASSERT_NO_THROW(boost::property_tree::read_xml(in, tree));
    EXPECT_EQ(tree.front().first, "svg");
}

} // namespace asio_retry::tool
