#!/bin/sh
# Installs what is missing, builds and runs: ./cmake/bootstrap.sh demo | test | services | bench | docs
set -eu
cd "$(dirname "$0")/.."

usage() {
    cat <<'EOF'
usage: ./cmake/bootstrap.sh COMMAND [ARGUMENTS]

  demo [--seconds N]   build the demo in release mode and run it; installs a compiler and Boost, if need be, and no more
    --page [OPTIONS]   an HTTP gateway instead, with a page that shows what it does; ends with the page's address
  test [CTEST-OPTION]  build the library and the tests that need nothing else, in debug mode, and run them
    --all [CTEST-OPTION] all tests: also servers, pages in a browser, packages, threads, exhausted memory, examples
  services [PRESET]    build and run only the tests with servers that others have written, with `asan` or `tsan`
                       under that sanitizer
  bench [OPTIONS]      build the benchmarks in release mode and run them: three quarters of an hour for all of them,
                       fourteen minutes of it for longest_turn
    --quick            only small ones: a minute, and another one for the peers
    --only REGEX       only the workloads with such a name; --list shows them
    --contenders REGEX only the contenders with such a name
    --no-peers         without the retry packages of Go, Node and Python, which are installed otherwise
    --output FOLDER    for the results, build/bench/results by default
  docs [FOLDER]        build the guide and the reference as a site, in build/docs or in FOLDER
  install-tools        only install what `demo` and `test` need
  install-services     only get the servers that tests start, OpenTelemetry's schema, retry packages and rate limiters of
                       Node, into build/services, and hiredis, libpq, gRPC, SQLite, spdlog, OpenSSL, retry
                       packages of Python and the headers of Boost 1.88, as `test` does
  install-browser      only get Doxygen, npm and Chromium, for the site and its tests, as `test` does
  install-ci-tools     also install what the sanitizer builds and the checks of style need
  install PACKAGE...   only install these packages, where they are missing; A|B is A or else B

Missing packages are installed with apt-get, through sudo unless run as root.
For Debian 12 or later and Ubuntu 24.04 or later.
EOF
}

# The command that is nearest to a word, if at most two letters are missing, wrong, or too many.
nearest_command() {
    usage | awk -v word="$1" '
        function least(a, b) { return a < b ? a : b }
        function distance(a, b,    i, j, row, corner, above) {
            for (j = 0; j <= length(b); j++) row[j] = j
            for (i = 1; i <= length(a); i++) {
                corner = row[0]
                row[0] = i
                for (j = 1; j <= length(b); j++) {
                    above = row[j]
                    row[j] = least(least(above, row[j - 1]) + 1, corner + (substr(a, i, 1) != substr(b, j, 1)))
                    corner = above
                }
            }
            return row[length(b)]
        }
        /^  [a-z]/ {
            found = distance(word, $1)
            if (found <= 2 && found <= length($1) / 2 && (nearest == "" || found < fewest)) { nearest = $1; fewest = found }
        }
        END { print nearest }'
}

say() { printf '== %s\n' "$*"; }

# stage NUMBER OF WHAT: a line of progress, the first at stage 1
stage() {
    [ "$1" != 1 ] || began=$(date +%s)
    printf '== [%s of %s, %s s] %s\n' "$1" "$2" "$(($(date +%s) - began))" "$3"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

is_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$'; }

is_command() { command -v "$1" >/dev/null; }

# The first of the alternatives that is installed, or else that the package manager offers.
choose() {
    for package in "$@"; do
        if is_installed "$package"; then echo "$package"; return; fi
    done
    for package in "$@"; do
        if apt-cache policy "$package" 2>/dev/null | grep -q 'Candidate: [^(]'; then echo "$package"; return; fi
    done
    return 1
}

# Somebody else may hold the lock of the lists, for which apt-get does not wait.
update_lists() {
    for seconds in 5 20 0; do
        ! as_root apt-get update -qq || return 0
        sleep "$seconds"
    done
    return 1
}

# Each argument is a package, or alternatives joined by "|", the preferred one first.
install_missing() {
    missing=
    for alternatives in "$@"; do
        found=no
        for package in $(echo "$alternatives" | tr '|' ' '); do
            if is_installed "$package"; then found=yes; break; fi
        done
        [ "$found" = yes ] || missing="$missing $alternatives"
    done
    [ -n "$missing" ] || return 0

    say "updating the package lists"
    update_lists
    packages=
    for alternatives in $missing; do
        # shellcheck disable=SC2046 # the alternatives are words
        package=$(choose $(echo "$alternatives" | tr '|' ' ')) || {
            echo "bootstrap: none of the packages '$alternatives' is to be had here" >&2
            exit 1
        }
        packages="$packages $package"
    done
    say "installing$packages"
    # shellcheck disable=SC2086 # a list of words
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends $packages
}

# Debian 12 has Boost 1.81 beside its default 1.74; later releases have a newer default.
install_tools() {
    install_missing g++ cmake ninja-build git "libboost1.81-dev|libboost-dev" \
        "libboost-program-options1.81-dev|libboost-program-options-dev" \
        "libboost-context1.81-dev|libboost-context-dev" libgtest-dev libgmock-dev librapidcheck-dev \
        libcli11-dev \
        "pkg-config|pkgconf"
}

# A compiler and Boost: no test library.
install_demo_tools() {
    install_missing g++ cmake ninja-build "libboost1.81-dev|libboost-dev" \
        "libboost-program-options1.81-dev|libboost-program-options-dev"
}

# What g++ 12 took for the demo on a busy machine, in seconds of CPU time, user and system.
demo_seconds=40

announce_demo() {
    cores=$(nproc)
    say "the demo is an HTTP client that retries, against a flaky server; it and the library are built in build/demo,"
    say "which takes about $((demo_seconds / cores + 1)) s on $cores cores, the first time"
}

# Servers that tests start themselves, each in a folder of its own. They are unpacked and not installed: to install
# one would start it for the whole machine.
install_services() {
    PATH=$PATH:/usr/sbin:$PWD/build/services/usr/sbin:$PWD/build/services/usr/bin
    failed=0
    servers=
    (install_missing libsqlite3-dev) || failed=1
    (install_missing libhiredis-dev) || failed=1
    (install_missing python3 python3-jsonschema) || failed=1
    (install_missing python3-tenacity python3-urllib3 python3-botocore) || failed=1
    (install_missing libpq-dev) || failed=1
    (install_missing libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc python3-grpcio) || failed=1
    (install_missing libspdlog-dev) || failed=1
    (install_missing libssl-dev openssl) || failed=1
    is_command nginx || get nginx libcrypt1 libpcre2-8-0 "libssl3|libssl3t64" zlib1g
    { is_command prometheus && is_command promtool; } || get_prometheus
    # redis-server is a link to a program of redis-tools
    is_command redis-server ||
        get "redis-tools redis-server" libatomic1 libjemalloc2 liblzf1 "libssl3|libssl3t64" libsystemd0
    is_command haproxy || get_with_libraries haproxy
    has_postgres || get_postgres
    is_command mosquitto || get_with_libraries mosquitto
    { is_command mariadbd && is_command my_print_defaults; } || get_with_libraries mariadb-server-core mariadb-client-core
    # shellcheck disable=SC2086 # a list of words
    [ -z "$servers" ] || unpack build/services $servers || failed=1
    has_schema || get_schema || name_missing "schema of OpenTelemetry"
    locked_packages peers test/peers || name_missing "retry packages of Node"
    locked_packages limiters test/integration/limiters || name_missing "rate limiters of Node"
    has_boost_188 || get_boost_188 || name_missing "Boost 1.88"
    for program in nginx haproxy prometheus promtool redis-server mariadbd my_print_defaults mosquitto; do
        is_command $program || name_missing $program
    done
    has_postgres || name_missing postgres
    return $failed
}

# What is not named here is skipped without a word.
name_missing() {
    say "there is no $1 here, and none can be had: tests that need it are skipped"
    failed=1
}

# Distributions keep it out of the path.
has_postgres() {
    is_command postgres && return
    for program in /usr/lib/postgresql/*/bin/postgres build/services/usr/lib/postgresql/*/bin/postgres; do
        [ ! -x "$program" ] || return 0
    done
    return 1
}

# Debian 12 has its tool in the same package, later releases in one that it depends on.
get_prometheus() {
    [ -n "$(depends_of prometheus)" ] || update_lists || { failed=1; return; }
    get "prometheus $(depends_of prometheus | grep '^promtool$')"
}

# Has Boost.Redis, Boost.MySQL and Boost.MQTT5. Before Debian 13 it is unpacked, as two versions exclude each other.
has_boost_188() {
    is_installed libboost1.88-dev && is_installed libboost-charconv1.88-dev && return
    [ -f build/services/boost-1.88/unpacked ] &&
        [ -n "$(find build/services/boost-1.88/usr/lib -name libboost_charconv.a)" ]
}

get_boost_188() {
    rm -f build/services/boost-1.88/unpacked # it may lack what has come later
    ./cmake/toolchain_matrix.sh boost 1.88 build/services/boost-1.88
}

# Each release has its own version of it, in a package of that name, which needs many libraries.
get_postgres() {
    server=$(depends_of postgresql | grep '^postgresql-[0-9]*$') ||
        { update_lists && server=$(depends_of postgresql | grep '^postgresql-[0-9]*$'); } || { failed=1; return; }
    client=$(depends_of "$server" | grep '^postgresql-client-[0-9]*$' || true) # has pg_basebackup
    # shellcheck disable=SC2046,SC2086 # lists of words
    get "$server $client" tzdata $(depends_of "$server" $client | grep '^lib' | grep -v '^libllvm')
}

# get_with_libraries PACKAGE...: their libraries have other names in each release.
get_with_libraries() {
    [ -n "$(depends_of "$1")" ] || update_lists || { failed=1; return; }
    # shellcheck disable=SC2046 # a list of words
    get "$*" $(depends_of "$@" | grep '^lib' | grep -v '^libelogind0$')
}

# How OpenTelemetry's own JavaScript decodes its protocol. Later versions of the package have no schema.
schema=@opentelemetry/otlp-transformer
schema_version=0.212.0

has_schema() {
    grep -q "\"version\": \"$schema_version\"" "build/services/otlp/node_modules/$schema/package.json" 2>/dev/null
}

get_schema() {
    say "unpacking $schema in build/services/otlp"
    rm -rf build/services/otlp.new
    mkdir -p build/services/otlp.new
    npm_into build/services/otlp install "$schema@$schema_version"
}

# locked_packages NAME FOLDER: what the lock file in FOLDER names, in build/services/NAME. Nothing here needs the peers
# that some name.
locked_packages() {
    [ -d "build/services/$1/node_modules" ] &&
        [ "$(cat "$2/package-lock.json")" = "$(cat "build/services/$1/package-lock.json")" ] && return
    say "unpacking $1 of Node in build/services/$1"
    rm -rf "build/services/$1.new"
    mkdir -p "build/services/$1.new"
    cp "$2/package.json" "$2/package-lock.json" "build/services/$1.new" &&
        npm_into "build/services/$1" ci --legacy-peer-deps
}

# npm_into FOLDER ARGUMENT...: npm works in FOLDER.new, which becomes FOLDER once it is complete
npm_into() {
    unpacked=$1
    shift
    is_command npm || (install_missing npm) || return 1 # another vendor's Node brings its own
    rm -rf "$unpacked"
    # Where there is no registry, npm would try for two minutes each time.
    npm "$@" --silent --prefix "$unpacked.new" --prefer-offline --ignore-scripts --no-audit --no-fund \
        --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=1000 --fetch-timeout=60000 &&
        mv "$unpacked.new" "$unpacked" && return
    rm -rf "$unpacked.new"
    return 1
}

# depends_of PACKAGE...
depends_of() { apt-cache depends "$@" | sed -n 's/^ *|*Depends: //p'; }

# get SERVER PACKAGE...: a server to unpack, and what it needs
get() {
    server=$1
    shift
    if (install_missing "$@"); then servers="$servers $server"; else failed=1; fi
}

# unpack FOLDER PACKAGE...
unpack() {
    folder=$1
    shift
    say "unpacking $* in $folder"
    complete=0
    # A second for all of them, instead of one for each.
    download "$folder/package" "$@" ||
        { update_lists && download "$folder/package" "$@"; } ||
        download_each "$folder/package" "$@" || complete=1
    for package in "$folder"/package/*.deb; do
        [ ! -e "$package" ] || dpkg-deb -x "$package" "$folder" || complete=1
    done
    return $complete
}

# download FOLDER PACKAGE...: into an empty folder
download() {
    (
        rm -rf "$1" && mkdir -p "$1" && cd "$1" && shift &&
            apt-get download -qq -o APT::Sandbox::User=root "$@"
    )
}

# download_each FOLDER PACKAGE...: one that cannot be had, or not to its end, does not keep the others away
download_each() {
    into=$1
    shift
    each=0
    rm -rf "$into"
    mkdir -p "$into"
    for package in "$@"; do
        if download "$into.one" "$package"; then mv "$into.one"/*.deb "$into"; else each=1; fi
    done
    rm -rf "$into.one"
    return $each
}

# What builds the site, and what a test looks at it with.
install_browser() {
    install_missing doxygen python3 "chromium|chromium-browser"
    is_command npx || install_missing npm # another vendor's Node brings its own
}

install_ci_tools() {
    install_tools
    install_missing "clang-19|clang-16" "libclang-rt-19-dev|libclang-rt-16-dev" "clang-tidy-19|clang-tidy-16" "clang-format-19" valgrind
}

# check [CTEST-OPTION...]: what needs no server, no browser and no example
check() {
    stage 1 4 "installing what is missing"
    install_tools
    run_tests check 2 4 "$@"
}

check_all() {
    stage 1 5 "installing what is missing"
    install_tools
    stage 2 5 "installing servers and a browser"
    missing=
    (install_services) || missing="some servers or packages, which cannot be had here: see above"
    (install_browser) || missing="$missing${missing:+; }Doxygen or a browser, which cannot be had here: see above"
    run_tests test 3 5 "$@"
}

# run_tests PRESET STAGE STAGES [CTEST-OPTION...]: ends with what has been skipped, and why
run_tests() {
    preset=$1 number=$2 stages=$3
    shift 3
    stage "$number" "$stages" "configuring"
    configure "$preset"
    stage $((number + 1)) "$stages" "building"
    cmake --build --preset "$preset" --parallel "$(nproc)"
    stage $((number + 2)) "$stages" "testing"
    failed=0
    ctest --preset "$preset" "$@" || failed=$?
    say "$(($(date +%s) - began)) s. Skipped:"
    if [ "$preset" = check ]; then
        say "  servers, browsers, packages, examples, threads, exhausted memory: ./check --all has them"
    else
        [ -z "$missing" ] || say "  tests that need $missing"
        say "  instruction counts, sanitizers: .ci/run has them; studies, fuzzers: ./cmake/release.sh --prove"
    fi
    sed -n 's/^skipped: /==   /p' build/test/Testing/Temporary/LastTest.log | sort -u
    return $failed
}

# configure PRESET [CMAKE-OPTION...]
configure() {
    cmake --preset "$@" >"build-$1.log" 2>&1 || { cat "build-$1.log"; rm -f "build-$1.log"; exit 1; }
    rm -f "build-$1.log"
}

# build PRESET [TARGET [CMAKE-OPTION...]]
build() {
    preset=$1
    target=${2:-}
    shift $(($# < 2 ? $# : 2))
    say "configuring build/$preset"
    configure "$preset" "$@"
    say "building build/$preset"
    # More at once than there are processors takes longer, and some files take four gigabytes.
    cmake --build --preset "$preset" --parallel "$(nproc)" ${target:+--target "$target"}
}

# Examples are what some of them test, and the preset for ThreadSanitizer leaves examples out otherwise.
services() {
    preset=${1:-test}
    case "$preset" in
    test) install_tools ;;
    *)
        install_ci_tools
        for version in 19 16; do
            ! is_command "clang++-$version" || export ASIO_RETRY_CLANG="${ASIO_RETRY_CLANG:-clang++-$version}"
        done
        ;;
    esac
    (install_services) || say "not every server can be had: going on without it, its tests are skipped"
    (install_browser) || say "no page can be looked at here: going on without it, its tests are skipped"
    build "$preset" services -D ASIO_RETRY_BUILD_EXAMPLES=ON
    say "running the tests with servers"
    ctest --preset "$preset" -L '^services$' -j 1
}

# What cannot be installed is not measured: that is for the peers' own script to tell.
install_peers() {
    peers="golang-github-cenkalti-backoff-dev python3-tenacity"
    is_command go || peers="$peers golang-go"
    is_command node || peers="$peers nodejs"
    is_command npm || peers="$peers npm" # another vendor's Node brings its own
    for package in $peers; do
        (install_missing "$package") || say "$package cannot be installed: going on without it"
    done
}

bench() {
    quick= only= output= with_peers=yes previous=
    for argument in "$@"; do
        case "$previous" in
        --output) output=$argument ;;
        --only) only=$argument ;;
        esac
        case "$argument" in
        --quick) quick=--quick ;;
        --no-peers | --list | --help | --chart-from) with_peers=no ;;
        esac
        previous=$argument
    done
    if [ -z "$output" ]; then
        output=build/bench/results
        set -- "$@" --output "$output"
    fi

    install_tools
    build bench
    if [ $with_peers = yes ]; then
        install_peers
        say "measuring the peers of other languages"
        rm -f "$output"/peers/*.jsonl
        ./test/bench/peers/run.sh "$output/peers" build/bench/peers ${quick:+"$quick"} ${only:+--only "$only"} ||
            say "the peers could not be measured"
        set -- "$@" --peers "$output/peers"
    fi
    say "running the benchmarks; the results come to $output"
    exec build/bench/test/bench/bench "$@"
}

command=${1:-}
[ $# -eq 0 ] || shift
case "$command ${1:-}" in
*" -h" | *" --help")
    [ "$command" = bench ] || { usage; exit; }
    ;;
esac
case "$command" in
demo)
    install_demo_tools
    if [ "${1:-}" = --page ]; then
        shift
        say "the demo is an HTTP gateway before three servers that a page stops and starts"
        build demo asio_retry_gateway
        say "running the gateway; Ctrl-C ends it"
        exec build/demo/example/asio_retry_gateway --demo --quiet "$@"
    fi
    announce_demo
    build demo asio_retry_demo
    say "running the demo; Ctrl-C ends it"
    exec build/demo/example/asio_retry_demo "$@"
    ;;
test)
    if [ "${1:-}" = --all ]; then
        shift
        check_all "$@"
    else
        check "$@"
    fi
    ;;
services) services "$@" ;;
bench) bench "$@" ;;
docs)
    install_missing doxygen
    say "building the site"
    ./cmake/docs.sh "$@"
    say "open ${1:-build/docs}/html/index.html; its search finds titles and names"
    [ ! -d "${1:-build/docs}/html/pagefind" ] ||
        say "python3 -m http.server --directory ${1:-build/docs}/html serves it, and then the search finds text, too"
    ;;
install-tools) install_tools ;;
install-services) install_services ;;
install-browser) install_browser ;;
install-ci-tools) install_ci_tools ;;
install) install_missing "$@" ;;
-h | --help | help) usage ;;
'')
    usage >&2
    exit 2
    ;;
*)
    nearest=$(nearest_command "$command")
    {
        echo "bootstrap: there is no command '$command'${nearest:+; did you mean $nearest?}"
        echo "bootstrap: ./cmake/bootstrap.sh --help shows all commands"
    } >&2
    exit 2
    ;;
esac
