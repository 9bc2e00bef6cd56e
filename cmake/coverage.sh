#!/bin/sh
# Runs the tests with counters and reports how much of the library they reach: ./cmake/coverage.sh [--missing]
set -eu
cd "$(dirname "$0")/.."

usage() {
    cat <<'USAGE'
usage: ./cmake/coverage.sh [--missing]

Builds the tests with clang's source-based coverage in build/coverage, runs them, and prints which share of the lines
and branches of include/ and src/ they reached; of a template, what any of its instantiations reached. Fails below
98 % of the lines or 95 % of the branches of all, or below every branch of retry_machine, backoff and jitter.

  --missing   also list the lines and branches that were not reached
USAGE
}

missing=no
case "${1:-}" in
'') ;;
--missing) missing=yes ;;
-h | --help)
    usage
    exit
    ;;
*)
    usage >&2
    exit 2
    ;;
esac

say() { printf '== %s\n' "$*"; }

./cmake/bootstrap.sh install-tools
./cmake/bootstrap.sh install clang-19 libclang-rt-19-dev llvm-19
export ASIO_RETRY_CLANG=clang++-19

tests='unit_tests stress_tests number_tests exhaustion/exhaustion_tests cancellation_matrix/cancellation_matrix world/world'
build=build/coverage
say "building $build"
cmake --preset coverage >/dev/null
# shellcheck disable=SC2046,SC2086 # the targets are words
cmake --build --preset coverage ${JOBS:+-j "$JOBS"} --target $(basename -a $tests)

say "running the tests"
rm -rf $build/profile
objects=
for test in $tests; do
    GTEST_BRIEF=1 LLVM_PROFILE_FILE=$PWD/$build/profile/$(basename "$test")-%p.profraw timeout 900 $build/test/"$test"
    objects="${objects:+$objects -object }$build/test/$test"
done

say "coverage"
llvm-profdata-19 merge -sparse $build/profile/*.profraw -o $build/coverage.profdata
# shellcheck disable=SC2086 # the objects are words
export_as() { llvm-cov-19 export "$@" -instr-profile=$build/coverage.profdata $objects "$PWD/include" "$PWD/src"; }
export_as -format=lcov >$build/coverage.lcov
export_as -format=text -skip-functions -skip-expansions >$build/coverage.json
awk -v root="$PWD/" -v missing=$missing -f cmake/coverage.awk $build/coverage.lcov $build/coverage.json
