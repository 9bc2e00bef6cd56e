#!/bin/sh
# Debian's packages in a clean Debian: ./cmake/debian_package.sh [RELEASE]
# Builds them, asks lintian, installs them, builds and runs a program with what they brought, and removes them again.
# Needs debootstrap, and the right to chroot; the packages are left in build/debian.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091 # the system's own file
release=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
root=$PWD/build/debian/$release
result=$PWD/build/debian

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}
say() { printf '== %s\n' "$*"; }
inside() { as_root chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

command -v debootstrap >/dev/null || ./cmake/bootstrap.sh install debootstrap
# shellcheck disable=SC2016 # for apt-get to expand
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)

say "a clean Debian: $release"
as_root rm -rf "$root"
mkdir -p "$result"
as_root debootstrap --variant=buildd "$release" "$root" "$mirror" >"$result/debootstrap.log"
for file in /etc/apt/apt.conf.d/*proxy* /etc/resolv.conf; do
    [ ! -f "$file" ] || as_root cp "$file" "$root$file"
done

version=$(sed -n '1s/^asio-retry (\(.*\)-[0-9]*) .*/\1/p' debian/changelog)
folder=asio-retry-$version
as_root mkdir -p "$root/build/$folder"
git ls-files -co --exclude-standard -z | xargs -0 tar cf - | as_root tar xf - -C "$root/build/$folder" --no-same-owner
inside tar cJf "/build/asio-retry_$version.orig.tar.xz" --exclude="$folder/debian" -C /build "$folder"

say "building"
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends lintian >"$result/apt.log" 2>&1
inside sh -c "cd /build/$folder && apt-get build-dep -y -qq ." >>"$result/apt.log" 2>&1
inside sh -c "cd /build/$folder && dpkg-buildpackage -us -uc" >"$result/build.log" 2>&1 || {
    tail -n 30 "$result/build.log" >&2
    exit 1
}
say "lintian"
inside sh -c "lintian --allow-root --fail-on error /build/*.changes"

say "installing"
packages="/build/libasio-retry[0-9]*_*.deb /build/libasio-retry-dev_*.deb /build/asio-retry_*.deb"
listing() { inside sh -c "find / -xdev \( -path /proc -o -path /build -o -path /tmp -o -path /var/lib -o -path /var/log -o -path /var/cache \) -prune -o -print" | sort; }
inside apt-get install -y -qq cmake ninja-build pkg-config >>"$result/apt.log" 2>&1
# What the packages need stays when they go, and is not theirs.
inside sh -c "apt-get install -y -qq $packages" >>"$result/apt.log" 2>&1
inside sh -c "asio-retry --version && asio-retry explain 'exponential(100ms)' >/tmp/explained && test -s /tmp/explained"
inside sh -c "test -f /usr/share/man/man1/asio-retry.1.gz"

say "a program with pkg-config and one with CMake"
as_root cp -r test/consumer/project "$root/tmp/project"
inside sh -c "cd /tmp && g++ -std=c++20 project/main.cpp \$(pkg-config --cflags --libs asio_retry) -o app && ./app"
printf 'find_package(asio_retry REQUIRED)\ntarget_link_libraries(app PRIVATE asio_retry::asio_retry)\n' |
    as_root tee "$root/tmp/project/lines_of_the_guide.cmake" >/dev/null
inside sh -c "cd /tmp && cmake -S project -B made -G Ninja >/dev/null && cmake --build made >/dev/null && made/app"

say "removing"
inside sh -c "apt-get purge -y -qq asio-retry libasio-retry-dev 'libasio-retry[0-9]*'" >>"$result/apt.log" 2>&1
listing | grep -i 'asio.retry' >"$result/leftovers" && {
    echo "debian_package: left over:" >&2
    cat "$result/leftovers" >&2
    exit 1
}
as_root sh -c "cp '$root'/build/*.deb '$result'"
say "the packages are in build/debian"
