#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include <stdlib.h>

namespace asio_retry::test {

/// A new folder, until somebody removes it. `name` is a part of its name.
inline std::filesystem::path
make_folder(std::string const& name,
            std::filesystem::path const& parent = std::filesystem::temp_directory_path()) {
    std::string path = (parent / ("asio_retry_" + name + ".XXXXXX")).string();
    if (!::mkdtemp(path.data()))
        throw std::runtime_error("cannot make the folder " + path);
    return path;
}

/// A test with a folder of its own, which stays if the test fails.
class test_in_folder : public testing::Test {
protected:
    explicit test_in_folder(std::string const& name)
        : folder(make_folder(name)) {}
    ~test_in_folder() override {
        if (!HasFailure())
            std::filesystem::remove_all(folder);
    }

    std::filesystem::path const folder;
};

} // namespace asio_retry::test
