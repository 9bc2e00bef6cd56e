#!/bin/sh
# Builds and runs the unit tests with many toolchains: ./cmake/toolchain_matrix.sh list | run NAME...
set -eu
cd "$(dirname "$0")/.."

usage() {
    cat <<'USAGE'
usage: ./cmake/toolchain_matrix.sh COMMAND

  list           show the rows of the matrix
  run NAME...    install what the rows need, build and run the unit tests of each. Fails if any row fails.
                 `./cmake/release.sh --prove` runs all rows.
  boost VERSION FOLDER
                 only unpack the headers and Boost.Charconv of a Boost of Debian 13 or 14 in FOLDER, for
                 `./cmake/bootstrap.sh services`

For Debian 12 on amd64 or arm64. Its own packages are installed with apt-get, through sudo unless run as root. What
must not be mixed with them (both versions of libc++, three of Boost, Debian 13 with g++ 14 and Debian 14 with g++ 16)
is unpacked below build/toolchains; these two compilers run in a chroot there. arm64 and i386 are compiled for by cross
compilers, and run in an emulator of their instructions. JOBS=N says how many compilers run at
once. Programs for Windows are run by Wine.
USAGE
}

# Each compiler, each Boost, each mode and each processor is there. CI runs g++ 12 with Boost 1.81 on every change. The
# modes change one thing each from `debug`, where, as in every build of the tests, the unit tests alone are compiled with
# BOOST_ASIO_SEPARATE_COMPILATION and BOOST_ASIO_NO_DEPRECATED.
rows() {
    cat <<'ROWS'
gcc12-boost1.81-release            g++-12   libstdc++ 1.81 release
gcc12-boost1.83-shared             g++-12   libstdc++ 1.83 shared
gcc12-boost1.81-no_ts_executors    g++-12   libstdc++ 1.81 no_ts_executors
gcc14-boost1.81-header_only        g++-14   libstdc++ 1.81 header_only
gcc14-boost1.83-consumer           g++-14   libstdc++ 1.83 consumer
gcc14-boost1.88-spawned            g++-14   libstdc++ 1.88 spawned
gcc16-boost1.92-debug              g++-16   libstdc++ 1.92 debug
clang16-libc++-boost1.83-debug     clang-16 libc++    1.83 debug
clang16-boost1.88-no_deprecated    clang-16 libstdc++ 1.88 no_deprecated
clang19-boost1.83-separate         clang-19 libstdc++ 1.83 separate
clang19-boost1.92-versioned        clang-19 libstdc++ 1.92 versioned
clang19-libc++-boost1.81-consumer  clang-19 libc++    1.81 consumer
gcc12-boost1.88-io_uring           g++-12   libstdc++ 1.88 io_uring
gcc12-boost1.88-no_threads         g++-12   libstdc++ 1.88 no_threads
gcc14-boost1.88-cxx26              g++-14   libstdc++ 1.88 cxx26
gcc16-boost1.92-tokens             g++-16   libstdc++ 1.92 tokens
clang19-boost1.88-module           clang-19 libstdc++ 1.88 module
gcc12-asio1.30-standalone          g++-12   libstdc++ asio1.30 standalone
gcc12-asio1.30-linked              g++-12   libstdc++ asio1.30 linked
arm64-gcc12-boost1.81-debug        arm64-g++-12 libstdc++ 1.81 debug
i386-gcc12-boost1.81-consumer      i386-g++-12  libstdc++ 1.81 consumer
windows-gcc12-boost1.81-debug      windows-g++-12 libstdc++ 1.81 debug
windows-gcc12-boost1.81-consumer   windows-g++-12 libstdc++ 1.81 consumer
ROWS
}

mode_options() {
    case "$1" in
    debug) echo -DCMAKE_BUILD_TYPE=Debug ;;
    release) echo -DCMAKE_BUILD_TYPE=Release ;;
    shared) echo -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=ON ;;
    header_only) echo -DCMAKE_BUILD_TYPE=Debug -DASIO_RETRY_TEST_ASIO= ;;
    io_uring) echo -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_STANDARD_LIBRARIES=-luring ;;
    cxx*) echo -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_STANDARD="${1#cxx}" -DCMAKE_CXX_STANDARD_REQUIRED=ON ;;
    standalone | linked) echo -DCMAKE_BUILD_TYPE=Debug -DASIO_RETRY_STANDALONE=ON ;;
    tokens) echo -DCMAKE_BUILD_TYPE=Debug -DASIO_RETRY_TEST_BOOST_LIBRARIES=ON ;;
    *) echo -DCMAKE_BUILD_TYPE=Debug ;;
    esac
}

# For everything that is compiled, the library and Asio included. An optimising g++ sees coroutine frames that are freed
# otherwise than they were allocated, and empty functions that are read: neither is so.
mode_flags() {
    case "$1 $2" in
    no_deprecated\ *) echo -DBOOST_ASIO_NO_DEPRECATED ;;
    no_ts_executors\ *) echo -DBOOST_ASIO_NO_TS_EXECUTORS ;;
    separate\ *) echo -DBOOST_ASIO_SEPARATE_COMPILATION ;;
    versioned\ *) echo -DBOOST_ASIO_ENABLE_VERSION_NAMESPACE ;;
    spawned\ *) echo -DASIO_RETRY_SPAWN_ATTEMPTS ;;
    io_uring\ *) echo -DBOOST_ASIO_HAS_IO_URING -DBOOST_ASIO_DISABLE_EPOLL ;;
    no_threads\ *) echo -DBOOST_ASIO_DISABLE_THREADS ;;
    release\ g++-*) echo -Wno-mismatched-new-delete -Wno-maybe-uninitialized ;;
    esac
}

# A program that does not compile Asio itself cannot be linked where nothing else does.
mode_targets() {
    case "$1 $2" in
    separate\ *) echo unit_tests ;;
    no_threads\ * | cxx*) echo unit_tests seeded_delays ;;
    spawned\ *) echo unit_tests combination_tests cancellation_matrix ;;
    standalone\ *) echo standalone_unit_tests ;;
    linked\ *) echo asio_retry_standalone ;;
    tokens\ 1.92) echo cobalt_tests combination_tests ;;
    tokens\ *) echo combination_tests ;;
    debug\ 1.81) echo unit_tests stress_tests seeded_delays ;;
    # Some tokens are those of a newer Boost, and its Asio has other private names to do without.
    debug\ *) echo unit_tests stress_tests seeded_delays combination_tests cancellation_matrix renamed_asio_tests renamed_asio_members ;;
    *) echo unit_tests stress_tests seeded_delays ;;
    esac
}

export CCACHE_BASEDIR= # the check of the headers wants their whole paths
# Where Asio has no threads, neither pools nor lookups of hosts have any. What else is left out is called on two of them.
without_threads=--gtest_filter=-*threads*:*_thread:*_thread_pool_*:*_pool_that_throws_*:fresh_connections.*
without_threads=$without_threads:strand_of_its_own.*
without_threads=$without_threads:async_retry.decision_21_callables_run_on_the_executor_after_an_inline_failure
without_threads=$without_threads:async_retry.waiting_context_has_work_while_the_handler_belongs_to_another
without_threads=$without_threads:retry_scheduler.a_wait_whose_end_blocks_does_not_hold_up_the_others
without_threads=$without_threads:pool_executor.is_another_one_where_work_is_tracked
# On Windows Asio is compiled in one way in the library too, since what is inline in one file and not in another would be there
# twice. Files of tests have more sections than usual.
windows_flags='-DBOOST_ASIO_SEPARATE_COMPILATION -DBOOST_ASIO_NO_DEPRECATED -Wa,-mbig-obj'
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow'
cache=$PWD/build/toolchains

say() { printf '== %s\n' "$*"; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Where a compiler is that Debian 12 has not.
release_of() {
    case "$1" in
    g++-14) echo trixie ;;
    g++-16) echo forky ;;
    esac
}
boost_release() { if [ "$1" = 1.92 ]; then echo forky; else echo trixie; fi; }

in_release() { as_root chroot "$cache/$release" /usr/bin/env -i PATH=/usr/bin LC_ALL=C.UTF-8 TMPDIR=/tmp "$@"; }

# apt_of RELEASE apt-get or the like: with the release's package lists, from the mirror that the system itself uses, and
# no packages installed.
apt_of() {
    lists=$cache/apt-$1 tool=$2
    shift 2
    "$tool" -o Dir::Etc::sourcelist="$lists/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State="$lists" -o Dir::State::status="$lists/status" -o Dir::Cache="$lists/cache" \
        -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 -o APT::Install-Recommends=0 "$@"
}

# shellcheck disable=SC1091 # the system's own file
codename() { . /etc/os-release && echo "$VERSION_CODENAME"; }

prepare_apt() {
    lists=$cache/apt-$1
    [ ! -f "$lists/ready" ] || return 0
    say "reading the package lists of $1"
    mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
    : >"$lists/status"
    # shellcheck disable=SC2016 # for apt-get to expand
    mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
        awk -v release="$(codename)" '$2 == release && !found { print $1; found = 1 }')
    [ -n "$mirror" ] || { echo "toolchain_matrix: apt-get knows no mirror of $(codename)" >&2; exit 1; }
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main" >"$lists/sources.list"
    apt_of "$1" apt-get update -qq
    touch "$lists/ready"
}

# unpack FOLDER RELEASE PACKAGE...: downloads and unpacks.
unpack() {
    folder=$1 of=$2
    shift 2
    [ ! -f "$folder/unpacked" ] || return 0
    say "unpacking to ${folder#"$PWD/"}"
    rm -rf "$folder" "$folder.deb"
    mkdir -p "$folder" "$folder.deb"
    (cd "$folder.deb" && apt_from "$of" apt-get download -qq "$@")
    for package in "$folder.deb"/*.deb; do dpkg-deb -x "$package" "$folder"; done
    rm -rf "$folder.deb"
    touch "$folder/unpacked"
}

# With the system's own lists for its own packages.
apt_from() {
    if [ "$1" != "$(codename)" ]; then
        apt_of "$@"
        return
    fi
    tool=$2
    shift 2
    "$tool" -o APT::Sandbox::User="$(id -un)" "$@"
}

# Its headers, and what its coroutines with a stack and its awaitable types need, which Debian has from 1.92 on.
boost_packages() {
    case "$1" in asio*) echo libasio-dev && return ;; esac
    echo "libboost$1-dev" "libboost-context$1-dev" "libboost-context$1.0"
    [ "$1" != 1.92 ] || echo "libboost-cobalt$1-dev" "libboost-cobalt$1.0"
}

install_boost() {
    case "$1" in
    1.81) ./cmake/bootstrap.sh install libboost1.81-dev ;;
    *)
        prepare_apt "$(boost_release "$1")"
        # shellcheck disable=SC2046 # the packages are words
        unpack "$cache/boost-$1" "$(boost_release "$1")" $(boost_packages "$1")
        ;;
    esac
}

# The folder has a file `unpacked` once it is complete. Boost.MySQL needs Boost.Charconv, which is no header alone.
unpack_boost_headers() {
    case "$2" in /*) folder=$2 ;; *) folder=$PWD/$2 ;; esac
    prepare_apt "$(boost_release "$1")"
    unpack "$folder" "$(boost_release "$1")" "libboost$1-dev" "libboost-charconv$1-dev"
}

# Debian's packages of the versions of libc++ exclude each other, and its GoogleTest is compiled for libstdc++.
install_libcxx() {
    version=$1 prefix=$cache/libc++-$1
    ./cmake/bootstrap.sh install googletest cmake ninja-build
    unpack "$prefix" "$(codename)" "libc++-$version-dev" "libc++1-$version" "libc++abi-$version-dev" "libc++abi1-$version" \
        "libunwind-$version-dev" "libunwind-$version"
    [ "$2" != consumer ] && [ ! -f "$prefix/googletest.built" ] || return 0
    say "building GoogleTest with libc++ $version"
    cmake -S /usr/src/googletest -B "$prefix/googletest" -G Ninja -DCMAKE_CXX_COMPILER="clang++-$version" \
        -DCMAKE_CXX_FLAGS="$(libcxx_compile_flags "$version")" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$prefix/usr" >"$prefix/googletest.log"
    cmake --build "$prefix/googletest" --target install ${JOBS:+-j "$JOBS"} >>"$prefix/googletest.log"
    touch "$prefix/googletest.built"
}

libcxx_compile_flags() { echo "-nostdinc++ -isystem $cache/libc++-$1/usr/lib/llvm-$1/include/c++/v1"; }

libcxx_link_flags() {
    libraries=$cache/libc++-$1/usr/lib/llvm-$1/lib
    echo "-stdlib=libc++ -L$libraries -Wl,-rpath,$libraries"
}

# A newer Debian is its packages unpacked and no more, which is enough to compile: their scripts do not run, nothing is
# mounted. Hard links put the versions of Boost inside.
install_release() {
    release=$1 compiler=$2 boost=$3 folder=$cache/$1
    prepare_apt "$release"
    if [ ! -f "$folder/unpacked" ]; then
        # shellcheck disable=SC2046 # the packages are words
        unpack "$folder" "$release" $(apt_of "$release" apt-get install -qq -s base-files coreutils dash "$compiler" cmake ninja-build \
            libgmock-dev | awk '$1 == "Inst" { print $2 }')
    fi
    folder=$cache/$release
    mkdir -p "$folder/tmp" "$folder/dev"
    [ -e "$folder/dev/null" ] || as_root mknod -m 666 "$folder/dev/null" c 1 3
    [ ! -d "$folder/boost-$boost" ] || return 0
    case "$boost" in
    1.81) unpack "$cache/boost-1.81" "$(codename)" libboost1.81-dev ;;
    *) install_boost "$boost" ;;
    esac
    cp -al "$cache/boost-$boost" "$cache/$release/boost-$boost"
}

# What is compiled for, if not this machine, and how it is called elsewhere.
processor_of() {
    case "$1" in
    arm64-* | i386-* | windows-*) echo "${1%%-*}" ;;
    esac
}
triplet_of() {
    case "$1" in
    arm64-*) echo aarch64-linux-gnu ;;
    i386-*) echo i686-linux-gnu ;;
    windows-*) echo x86_64-w64-mingw32 ;;
    esac
}

# Boost is headers alone, but the compiler must not find those of this machine's system beside them.
install_cross() {
    unpack "$cache/boost-1.81" "$(codename)" libboost1.81-dev
    case "$1" in
    windows-*)
        mkdir -p "$cache/windows/wine" "$cache/windows/linker"
        # With -fuse-ld=lld the compiler still takes GNU's linker, which needs minutes for what lld links in a second.
        printf '#!/bin/sh\nexec ld.lld "$@"\n' >"$cache/windows/linker/collect2"
        chmod +x "$cache/windows/linker/collect2"
        ./cmake/bootstrap.sh install g++-mingw-w64-x86-64-posix wine wine64 lld googletest cmake ninja-build
        ;;
    *) ./cmake/bootstrap.sh install "${1#*-}-$(triplet_of "$1")" qemu-user googletest cmake ninja-build ;;
    esac
    prefix=$cache/$(processor_of "$1")
    [ "$2" != consumer ] && [ ! -f "$prefix/googletest.built" ] || return 0
    say "building GoogleTest for $(processor_of "$1")"
    mkdir -p "$prefix"
    # shellcheck disable=SC2046 # the options are words
    CC=$(cross_command "$1" | sed 's/g++/gcc/') cmake -S /usr/src/googletest -B "$prefix/googletest" -G Ninja \
        $(cross_options "$1") -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_CXX_COMPILER="$(cross_command "$1")" -DCMAKE_INSTALL_PREFIX="$prefix/usr" >"$prefix/googletest.log"
    cmake --build "$prefix/googletest" --target install ${JOBS:+-j "$JOBS"} >>"$prefix/googletest.log"
    touch "$prefix/googletest.built"
}
cross_command() {
    case "$1" in
    windows-*) echo "$(triplet_of "$1")-g++-posix" ;;
    *) echo "$(triplet_of "$1")-${1#*-}" ;;
    esac
}
cross_runner() {
    case "$1" in
    windows-*)
        libraries=$(dirname "$("$(cross_command "$1")" -print-file-name=libstdc++-6.dll)")
        echo "env WINEDEBUG=-all WINEPREFIX=$cache/windows/wine WINEPATH=$libraries;/usr/$(triplet_of "$1")/lib wine"
        return
        ;;
    arm64-*) emulator=qemu-aarch64 ;;
    i386-*)
        emulator=qemu-i386
        # A processor that has both needs no emulator, and this one stands still when threads wake each other.
        if [ "$(uname -m)" = x86_64 ]; then
            libraries=/usr/$(triplet_of "$1")/lib
            echo "$libraries/ld-linux.so.2 --library-path $libraries"
            return
        fi
        ;;
    esac
    echo "$emulator -L /usr/$(triplet_of "$1")"
}
cross_options() {
    case "$1" in
    windows-*)
        echo "-DCMAKE_SYSTEM_NAME=Windows -DBoost_INCLUDE_DIR=$cache/boost-1.81/usr/include"
        echo -DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST
        return
        ;;
    esac
    echo "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$(triplet_of "$1" | sed 's/-.*//')"
    echo "-DBoost_INCLUDE_DIR=$cache/boost-1.81/usr/include"
    echo "-DCMAKE_CROSSCOMPILING_EMULATOR=$(cross_runner "$1" | tr ' ' ';')"
}

install_row() {
    compiler=$2 library=$3 boost=$4 mode=$5
    case "$compiler" in
    g++-14 | g++-16)
        install_release "$(release_of "$compiler")" "$compiler" "$boost"
        return
        ;;
    arm64-* | i386-* | windows-*) install_cross "$compiler" "$mode" ;;
    g++-*) ./cmake/bootstrap.sh install "$compiler" ;;
    clang-*) ./cmake/bootstrap.sh install "$compiler" ;;
    esac
    ./cmake/bootstrap.sh install cmake ninja-build libgtest-dev libgmock-dev
    install_boost "$boost"
    [ "$mode" != io_uring ] || ./cmake/bootstrap.sh install liburing-dev
    [ "$library" = libstdc++ ] || install_libcxx "${compiler#clang-}" "$mode"
}

# The files of the project in a folder of the newer Debian, with their times, so that what has not changed is not compiled
# again.
copy_into_release() {
    rm -rf "$cache/$release/asio_retry"
    mkdir -p "$cache/$release/asio_retry"
    tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$cache/$release/asio_retry"
}

# Compiles and runs in the folder $build; `here` runs a command where the compiler is.
build_row() {
    compiler=$1 library=$2 boost=$3 mode=$4
    compile_flags="$warnings $(mode_flags "$mode" "$compiler")" link_flags='' prefixes='' more_options='' runner='' exe=''
    release=$(release_of "$compiler")
    if [ -n "$release" ]; then
        copy_into_release
        here=in_release source=/asio_retry prefixes=/boost-$boost/usr command=$compiler
    else
        here=env source=$PWD command=$(echo "$compiler" | sed 's/^clang-/clang++-/')
        [ "$boost" = 1.81 ] || prefixes="$cache/boost-$boost/usr"
    fi
    if [ -n "$(processor_of "$compiler")" ]; then
        command=$(cross_command "$compiler") prefixes=$cache/$(processor_of "$compiler")/usr
        more_options=$(cross_options "$compiler") runner=$(cross_runner "$compiler")
        case "$compiler" in
        windows-*) compile_flags="$compile_flags -D_WIN32_WINNT=0x0A00" exe=.exe ;;
        i386-*) compile_flags="$compile_flags -msse2 -mfpmath=sse" ;; # with x87 a double has other digits in a register
        esac
        case "$compiler $mode" in
        windows-*\ debug) compile_flags="$compile_flags $windows_flags" link_flags="-static -s -B$cache/windows/linker" ;;
        esac
    fi
    # Else Asio gives memory to a thread that a coroutine has left.
    [ "$compiler" != clang-16 ] || compile_flags="$compile_flags -DBOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING"
    if [ "$library" = libc++ ]; then
        version=${compiler#clang-}
        compile_flags="$compile_flags $(libcxx_compile_flags "$version")"
        link_flags=$(libcxx_link_flags "$version")
        prefixes="$prefixes;$cache/libc++-$version/usr"
    fi
    launcher=
    if [ $here = env ] && command -v ccache >/dev/null; then
        launcher=ccache CCACHE_SLOPPINESS=pch_defines,time_macros
        export CCACHE_SLOPPINESS
    fi
    if [ "$mode" = consumer ]; then
        build_consumer "$build" && check_headers "$library" "$boost"
        return
    fi
    if [ "$mode" = module ]; then
        build_module && check_headers "$library" "$boost"
        return
    fi
    # shellcheck disable=SC2046 # the options are words
    configure "$source" "$build" -DASIO_RETRY_BUILD_TESTS=ON -DASIO_RETRY_TEST_HEADERS_ONLY=ON \
        -DASIO_RETRY_TEST_TYPICAL_EXECUTOR=on_any_io_executor $(mode_options "$mode") || return
    targets=$(mode_targets "$mode" "$boost")
    [ "$exe" = '' ] || targets="windows_macros $targets"
    # shellcheck disable=SC2086 # the targets are words
    $here cmake --build "$build" ${JOBS:+-j "$JOBS"} --target $targets || return
    check_headers "$library" "$boost" || return
    for target in $targets; do
        program=$target
        case $target in
        cancellation_matrix) program=$target/$target arguments=--gtest_brief=1 ;;
        asio_retry_standalone | renamed_asio_members) continue ;; # which ctest runs below, or nothing
        seeded_delays) arguments=$source/test/golden/seeded_delays.csv ;;
        *) arguments=--gtest_brief=1 ;;
        esac
        [ "$mode" != no_threads ] || [ "$target" != unit_tests ] || arguments="--gtest_brief=1 $without_threads"
        # shellcheck disable=SC2086 # the runner and the arguments are words
        $here timeout 600 $runner "$build/test/$program$exe" $arguments || return
    done
    case "$mode $here" in
    shared\ *) build_consumer "$build/consumer" ;;
    standalone\ env) # in a chroot there is neither a Boost for the other library nor pkg-config
        ctest --test-dir "$build" -R '^standalone\.is_' --output-on-failure --no-tests=error
        ;;
    linked\ *)
        ctest --test-dir "$build" -R '^standalone\.is_in_one_program_with_the_other$' --output-on-failure --no-tests=error
        ;;
    esac
}

# The library as a shared one, and a program with a plugin that throws and catches across it.
build_consumer() {
    configure "$source/test/consumer/shared" "$1" -DASIO_RETRY_FOLDER="$source" || return
    $here cmake --build "$1" ${JOBS:+-j "$JOBS"} || return
    # shellcheck disable=SC2086 # the runner is words
    $here $runner "$1/app$exe" || return
    [ -n "$exe" ] || return 0
    # Wine has a console, and a Ctrl-C to press, where there is a terminal.
    console="$runner $1/press_ctrl_c$exe $1/console_service$exe"
    timeout 120 script -qec "$(echo "$console" | sed 's/\(WINEPATH=[^ ]*\)/"\1"/') >$1/said" /dev/null && cat "$1/said" &&
        grep -q 'jobs: [0-9]* completed' "$1/said" # Wine ends with 0 what does not care
}

# The library as a C++20 module, and a program that imports it. CMake 3.25 does not know modules, and needs not.
build_module() {
    configure "$source" "$build" -DASIO_RETRY_BUILD_TESTS=OFF -DASIO_RETRY_JSON=OFF || return
    $here cmake --build "$build" ${JOBS:+-j "$JOBS"} --target asio_retry || return
    options="-std=c++20 $compile_flags -Werror -isystem $prefixes/include -I$source/include"
    interface=$build/asio_retry.pcm
    # shellcheck disable=SC2086 # the options are words
    $here "$command" $options --precompile -x c++-module "$source/example/module/asio_retry.cppm" -o "$interface" &&
        $here "$command" $options -fmodule-file=asio_retry="$interface" "$source/example/module/main.cpp" "$interface" \
            "$build/libasio_retry.a" -o "$build/imports_asio_retry" &&
        $here "$build/imports_asio_retry"
}

# configure SOURCE BUILD OPTION...
configure() {
    from=$1 to=$2
    shift 2
    # shellcheck disable=SC2086 # the options are words
    $here cmake -S "$from" -B "$to" -G Ninja -Werror=dev \
        -DCMAKE_CXX_COMPILER="$command" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
        -DCMAKE_CXX_FLAGS="$compile_flags" -DCMAKE_EXE_LINKER_FLAGS="$link_flags" \
        -DCMAKE_SHARED_LINKER_FLAGS="$link_flags" -DCMAKE_CXX_EXTENSIONS=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
        -DCMAKE_CXX_FLAGS_DEBUG= -DCMAKE_PREFIX_PATH="$prefixes" -DASIO_RETRY_BUILD_TOOL=OFF $more_options "$@"
}

# The compiler says which headers it read: the row is what its name says, or it fails.
check_headers() {
    library=$1 boost=$2
    $here ninja -C "$build" -t deps | sed -n 's/^ *//; /^\//p' | sort -u >"$log.headers"
    root=
    [ $here = env ] || root=$cache/$release
    found=$(grep '/boost/version\.hpp$' "$log.headers" | while read -r header; do
        sed -n 's/^#define BOOST_LIB_VERSION "\(.*\)"/\1/p' "$root$header"
    done | sort -u | tr _ .)
    case "$boost" in
    asio*) # and nothing of Boost
        found=$found$(grep '/asio/version\.hpp$' "$log.headers" | while read -r header; do
            sed -n 's/^#define ASIO_VERSION 10*\([0-9]*\)[0-9][0-9].*/asio1.\1/p' "$root$header"
        done | sort -u)
        ! grep '/boost/' "$log.headers" || found="$found and Boost"
        ;;
    esac
    if [ "$found" != "$boost" ]; then
        echo "toolchain_matrix: the headers are those of Boost '$found'"
        return 1
    fi
    case "$library" in
    libc++) wrong='/include/c++/[0-9]' right='/c++/v1/vector$' ;;
    libstdc++) wrong='/c++/v1/' right='/c++/\([0-9]*/\)\{0,1\}vector$' ;; # a cross compiler has no number there
    esac
    if [ "$mode" = io_uring ] && ! grep -q '/liburing\.h$' "$log.headers"; then
        echo "toolchain_matrix: Asio does not use io_uring"
        return 1
    fi
    if grep -q "$wrong" "$log.headers" || ! grep -q "$right" "$log.headers"; then
        echo "toolchain_matrix: the headers are not those of $library"
        return 1
    fi
}

run_row() {
    name=$1 compiler=$2 library=$3 boost=$4 mode=$5
    say "$name"
    log=$cache/log/$name
    if [ -n "$(release_of "$compiler")" ]; then build=/build/$name; else build=$cache/build/$name; fi
    mkdir -p "$cache/log"
    began=$(date +%s)
    if build_row "$compiler" "$library" "$boost" "$mode" >"$log" 2>&1; then result=passed; else result=FAILED; fi
    say "$name: $result after $(($(date +%s) - began)) s"
    if [ "$result" = FAILED ]; then
        echo "   the log is ${log#"$PWD/"}; its end:"
        tail -n 20 "$log" | sed 's/^/   /'
        return 1
    fi
}

row_named() {
    rows | grep "^$1 " || {
        echo "toolchain_matrix: no row is called '$1'; see ./cmake/toolchain_matrix.sh list" >&2
        return 1
    }
}

run() {
    [ $# -gt 0 ] || { usage >&2 && exit 2; }
    for chosen in "$@"; do row_named "$chosen" >/dev/null; done
    failed=0
    for chosen in "$@"; do
        # shellcheck disable=SC2046 # the columns are words
        install_row $(row_named "$chosen")
        # shellcheck disable=SC2046
        run_row $(row_named "$chosen") || failed=1
    done
    return $failed
}

command=${1:-}
[ $# -eq 0 ] || shift
case "$command" in
list) rows ;;
run) run "$@" ;;
boost)
    [ $# -eq 2 ] || { usage >&2 && exit 2; }
    unpack_boost_headers "$@"
    ;;
-h | --help | help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
