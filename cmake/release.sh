#!/bin/sh
# Whether everything that names the version names the same, before a release: ./cmake/release.sh --check [FOLDER]
# It says what does not, each in a line, and ends with 1 then. What it configures is kept in the folder, for another time.
set -eu
cd "$(dirname "$0")/.."
[ "${1:-}" = --check ] && [ $# -le 2 ] || {
    echo "usage: ./cmake/release.sh --check [FOLDER]" >&2
    exit 2
}

faults=0
fault() {
    echo "release: $*" >&2
    faults=1
}

# names FILE TEXT: whether the text stands in the file.
names() { grep -qF -- "$2" "$1" || fault "$1 does not say: $2"; }

version=$(sed -n 's/^project(asio_retry VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
minor=${version%.*}
if [ $# -eq 2 ]; then
    build=$2
    mkdir -p "$build"
else
    build=$(mktemp -d)
    trap 'rm -rf "$build"' EXIT
fi

# What changed, in a version that has a day.
heading=$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)
case "$heading" in
"$version ("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]")") ;;
*) fault "CHANGELOG.md begins with '$heading' and not with '$version (YEAR-MONTH-DAY)'" ;;
esac

# Documentation, where a version is to be copied from.
names doc/versions.md "It is $version now"
names doc/versions.md "libasio_retry.so.$minor"
for page in README.md doc/guide/installing.md; do
    names "$page" "find_package(asio_retry $minor REQUIRED)"
done

# The name by which headers and library of two versions do not link.
names include/asio_retry/detail/policy/config.hpp "library_is_version_$(echo "$minor" | tr . _)"
names include/asio_retry/detail/policy/config.hpp "detect_mismatch(\"asio_retry\", \"$minor\")"

# Debian's packages.
[ "$(sed -n '1s/^asio-retry (\(.*\)-[0-9]*) .*/\1/p' debian/changelog)" = "$version" ] || fault "debian/changelog is of another version"
day=$(printf '%s' "$heading" | sed -n 's/.*(\(.*\))/\1/p')
[ "$(date -u -d "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%Y-%m-%d)" = "$day" ] || fault "debian/changelog is not of $day"
names debian/control "Package: libasio-retry$minor"
changes=$build/changes
sed -n '/^## /h; G; /\n## '"$version"' /P' CHANGELOG.md >"$changes"
for package in $(grep -hoE 'libasio-retry[0-9]+[.][0-9]+' "$changes" README.md doc/*.md doc/guide/*.md debian/control debian/changelog | sort -u); do
    [ "$package" = "libasio-retry$minor" ] || fault "a page names the package $package"
done
[ -f "debian/libasio-retry$minor.install" ] || fault "debian/libasio-retry$minor.install is missing"

# What other package managers read.
names packaging/vcpkg/asio-retry/vcpkg.json "\"version-semver\": \"$version\""
names packaging/conan/conanfile.py "version = \"$version\""

# The libraries, as the build would make them.
cmake -S . -B "$build/shared" -G Ninja -D CMAKE_BUILD_TYPE=Release -D BUILD_SHARED_LIBS=ON >"$build/log" 2>&1 || {
    cat "$build/log" >&2
    exit 1
}
for library in asio_retry asio_retry_json; do
    names "$build/shared/build.ninja" "SONAME = lib$library.so.$minor"
    names "$build/shared/build.ninja" "lib$library.so.$version"
done
names "$build/shared/asio_retry-config-version.cmake" "\"$version\""
names "$build/shared/asio_retry.pc" "Version: $version"

# The single header.
cmake -D OUTPUT="$build/asio_retry.hpp" -P cmake/single_header.cmake
names "$build/asio_retry.hpp" "// asio_retry $version, in one header."

[ $faults -eq 0 ] && echo "asio_retry $version: everything agrees"
exit $faults
