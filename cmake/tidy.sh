#!/bin/sh
# Runs the checks of .clang-tidy over the library's sources and the headers that they include, a few files for all: one
# by one they take twenty times as long. Checks of the main file alone, as for unused aliases, see nothing of the sources.
set -eu
cd "$(dirname "$0")/.."
for version in -19 -16 ''; do
    if command -v "clang-tidy$version" >/dev/null && command -v "clang++$version" >/dev/null; then break; fi
done
cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="clang++$version" \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DASIO_RETRY_UNITY_BUILD=ON -DASIO_RETRY_INSTALL=OFF -DASIO_RETRY_BUILD_TOOL=OFF >/dev/null
set -- build/tidy/CMakeFiles/asio_retry.dir/Unity/unity_*.cxx # if there are none, clang-tidy says so
"clang-tidy$version" -p build/tidy --quiet "$@" src/text/policy_json*.cpp
