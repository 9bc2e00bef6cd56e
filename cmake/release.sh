#!/bin/sh
# What a release needs: that everything names one version, and that every proof passes.
set -eu
cd "$(dirname "$0")/.."
table=doc/internals/proofs.md

usage() {
    cat <<'USAGE'
usage: ./cmake/release.sh --check [FOLDER]
       ./cmake/release.sh --prove [--list | ROW...]
       ./cmake/release.sh --archive [FOLDER]

  --check   compares the version in the changelog, the pages, the packages, the libraries and the single header,
            and names each that differs. FOLDER keeps what is configured for another time.
  --prove   runs each row of doc/internals/proofs.md, or only the rows named, and writes the result into that table.
            The logs are build/release/ROW.log. It takes hours, and the rows bare_* and debian need root.
  --list    shows the rows and their commands.
  --archive writes asio_retry-VERSION.tar.gz into FOLDER, build/release by default, and prints its SHA-256. The archive
            has what git tracks and new files that git does not ignore.

Each ends with 1 if something fails.
USAGE
}

# What `.ci/run` does, and what it leaves out: a name and a command in each line.
rows() {
    cat <<'ROWS'
versions        ./cmake/release.sh --check
ci              ./.ci/run
users_asan      ./cmake/bootstrap.sh install-services && tests 'asan' 'example/all test/guide/all combination_tests services' '^example[.]' '^demo[.]' '^gateway[.]' '^guide[.]' '^combination_tests[.]' '^integration[.]'
all_asan        tests 'clang-asan -D ASIO_RETRY_BUILD_LAB=ON' 'all' '.'
all_tsan        tests 'tsan -D ASIO_RETRY_TEST_THREADS_ONLY=OFF' 'all' '.'
services_tsan   ./cmake/bootstrap.sh services tsan
soak            soak
lab             tests 'lab' 'lab_tests' '^lab_tests[.]'
fuzz            tests 'fuzz -D ASIO_RETRY_FUZZ_SECONDS=600' 'all' '.'
bench           tests 'bench' 'all' '^bench[.]'
faults          tests 'test' 'plant_faults' '^faults[.]'
debian          ./cmake/debian_package.sh bookworm && ./cmake/debian_package.sh trixie
bare_bookworm   ./cmake/bare_machine.sh bookworm
bare_trixie     ./cmake/bare_machine.sh trixie
ROWS
    ./cmake/toolchain_matrix.sh list | while read -r name _; do echo "$name ./cmake/toolchain_matrix.sh run $name"; done
}

# shellcheck disable=SC2317 # a row names it
# tests 'PRESET [CMAKE-OPTION...]' 'TARGET...' REGEX...: installs, configures, builds, and runs the tests of each name.
tests() {
    configuration=$1 preset=${1%% *} targets=$2
    shift 2
    ./cmake/bootstrap.sh install-ci-tools || return
    for version in 19 16; do
        ! command -v "clang++-$version" || export ASIO_RETRY_CLANG="${ASIO_RETRY_CLANG:-clang++-$version}"
    done
    # shellcheck disable=SC2086 # the options and the targets are words
    cmake --preset $configuration && cmake --build --preset "$preset" --parallel "$(nproc)" --target $targets || return
    for names in "$@"; do
        ctest --preset "$preset" -R "$names" --timeout 3600 || return
    done
}

# shellcheck disable=SC2317 # a row names it
# soak: an hour of the gateway. Beside it, again and again, clients of a PostgreSQL, of a Redis and of a name server that
# fail or restart. These run in the folder of their own tests, where CTest writes other files.
soak() {
    ./cmake/bootstrap.sh install-services &&
        tests 'test' 'asio_retry_gateway soak_tests postgres_tests redis_counter_tests names_tests' '^integration[.]names$' || return
    ASIO_RETRY_SOAK_SECONDS=3600 ctest --preset test -R '^integration[.]soak$' --timeout 5400 -V &
    soak=$!
    result=0 rounds=0
    while kill -0 $soak 2>/dev/null; do
        ctest --test-dir build/test/test/integration -R '^integration[.](postgres|redis_counter|names)$' --output-on-failure || result=1
        rounds=$((rounds + 1))
    done
    wait $soak || result=1
    echo "beside the gateway: $rounds rounds of PostgreSQL, Redis and names"
    return $result
}

# note ROW RESULT: in the last three cells of the row.
note() {
    awk -v row="$1" -v end=" $2 | $(date -u +%Y-%m-%d) | \`$commit\` |" '
        index($0, "| " row " |") == 1 { split($0, cell, "|"); $0 = "|" cell[2] "|" cell[3] "|" end }
        { print }' "$table" >"$table.new"
    mv "$table.new" "$table"
}

prove_row() {
    command=$(rows | sed -n "s/^$1  *//p")
    log=build/release/$1.log
    echo "== $1: $command"
    began=$(date +%s)
    if (eval "$command") >"$log" 2>&1; then result=passed; else result=FAILED; fi
    note "$1" "$result"
    echo "== $1: $result after $(($(date +%s) - began)) s; the log is $log"
    [ "$result" = passed ]
}

prove() {
    [ $# -gt 0 ] || eval "set -- $(rows | sed 's/ .*//' | tr '\n' ' ')"
    for row in "$@"; do
        rows | grep -q "^$row " || { echo "release: no row is called '$row'; see --prove --list" >&2; exit 2; }
    done
    [ -z "$(git status --porcelain -- . ":!$table")" ] || {
        echo "release: commit your changes first: the table names the commit that is proved" >&2
        exit 2
    }
    commit=$(git rev-parse --short=8 HEAD)
    mkdir -p build/release
    export ASIO_RETRY_WARNINGS_ARE_ERRORS=ON
    failed=0
    for row in "$@"; do prove_row "$row" || failed=1; done
    exit $failed
}

# The same files make the same archive, whoever packs them and when.
archive() {
    folder=$1
    name=asio_retry-$version
    mkdir -p "$folder"
    if [ -e .git ]; then
        [ -z "$(git status --porcelain)" ] || echo "release: the archive has changes that are not committed" >&2
        git ls-files -co --exclude-standard -z
    else # an unpacked archive, perhaps in another repository
        find . -path ./build -prune -o -type f -printf '%P\0'
    fi | LC_ALL=C sort -z | tar --null --files-from=- --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
        --mtime="$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" --transform="s,^,$name/," \
        -cf "$folder/$name.tar" # the last command, so that its failure ends this
    gzip -n9f "$folder/$name.tar"
    sha256sum "$folder/$name.tar.gz"
}

version=$(sed -n 's/^project(asio_retry VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
minor=${version%.*}
action=${1:-}
[ $# -eq 0 ] || shift
case "$action $#" in
"--prove "*)
    if [ "${1:-}" != --list ]; then prove "$@"; fi
    rows
    exit
    ;;
"--archive 0" | "--archive 1")
    archive "${1:-build/release}"
    exit
    ;;
"--check 0" | "--check 1") ;;
*)
    usage >&2
    exit 2
    ;;
esac

faults=0
fault() {
    echo "release: $*" >&2
    faults=1
}

# names FILE TEXT: whether the text stands in the file.
names() { grep -qF -- "$2" "$1" || fault "$1 does not say: $2"; }

if [ $# -eq 1 ]; then
    build=$1
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
cmake -S . -B "$build/shared" -G Ninja -D CMAKE_BUILD_TYPE=Release -D BUILD_SHARED_LIBS=ON -D ASIO_RETRY_BUILD_TOOL=OFF >"$build/log" 2>&1 || {
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
