#!/bin/sh
# Runs the checks of .clang-tidy over the library's sources and the headers that they include, a few files for all: one
# by one they take twenty times as long.
set -eu
cd "$(dirname "$0")/.."
for version in -19 -16 ''; do
    if command -v "clang-tidy$version" >/dev/null && command -v "clang++$version" >/dev/null; then break; fi
done
cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="clang++$version" \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DASIO_RETRY_UNITY_BUILD=ON -DASIO_RETRY_INSTALL=OFF -DASIO_RETRY_BUILD_TOOL=OFF >/dev/null
find build/tidy/CMakeFiles -name 'unity_*.cxx' -print0 |
    xargs -0 "clang-tidy$version" -p build/tidy --quiet "$PWD"/src/text/policy_json*.cpp
