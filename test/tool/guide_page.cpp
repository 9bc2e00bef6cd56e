// The page of the guide on the program: its lines run, and print what it says.
#include "support/places.hpp"
#include "support/program.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include <stdlib.h>

namespace asio_retry::tool {
namespace {

/// The lines up to the end of a block.
std::string block_from(std::istream& page) {
    std::string text;
    for (std::string line; std::getline(page, line) && line != "```";)
        text += line + '\n';
    return text;
}

TEST(guide_page, has_lines_that_run_and_print_what_it_says) {
    std::string folder = ::testing::TempDir() + "asio_retry_guide.XXXXXX";
    ASSERT_TRUE(::mkdtemp(folder.data()));
    std::string const begin =
        "cd " + folder + " && PATH=$(dirname " + program() + "):$PATH && export PATH LC_ALL=C && set -e\n";
    std::ifstream page(test::file_of_project("doc/guide/command_line.md"));
    outcome last{};
    int commands = 0, outputs = 0;
    for (std::string line; std::getline(page, line);)
        if (line == "```sh") {
            std::string const block = block_from(page);
            last = run_in_shell(begin + block);
            EXPECT_EQ(last.exit_code, 0) << block;
            ++commands;
        } else if (line == "```text") {
            EXPECT_EQ(last.output, block_from(page));
            ++outputs;
        }
    EXPECT_GE(commands, 4);
    EXPECT_GE(outputs, 2);
    run_in_shell("rm -r " + folder);
}

} // namespace
} // namespace asio_retry::tool
