#!/bin/sh
# Runs both commands of the README on a bare Debian, as root: ./cmake/bare_machine.sh SUITE
set -eu
cd "$(dirname "$0")/.."
export PATH="$PATH:/usr/sbin:/sbin"

usage() {
    cat <<'USAGE'
usage: ./cmake/bare_machine.sh [OPTIONS] SUITE [COMMAND [ARGUMENT...]]

  SUITE            bookworm or trixie
  COMMAND          what to run instead of ./try and ./check
  --again          keep the machine of the last run, with its packages and its build
  --fresh          install the minimal Debian again, too
  --folder FOLDER  where all of that is; build/bare by default
  --seconds N      how long the demo runs; 5 by default

Installs a minimal Debian with debootstrap, clones the checkout to /root/asio_retry there, and runs both commands in a
chroot as root. The clone has what is not committed, new files included, but not what git ignores. The minimal Debian
and the downloaded packages are kept for the next run; each run begins with a new copy of that Debian. The chroot has
its own /proc, /dev/pts and /dev/shm. They and all processes end with this script. Exits with 1 if a command fails,
and names it. While you mend one test:

  ./cmake/bare_machine.sh --again trixie ./check --all -R integration.postgres

For a Debian on amd64 or arm64, whose apt says where packages come from. Needs git, debootstrap, 10 GB, and half an
hour on two cores. Runs itself with sudo unless run as root.
USAGE
}

say() { printf '== %s\n' "$*"; }

refuse() {
    echo "bare_machine: $*" >&2
    echo "bare_machine: ./cmake/bare_machine.sh --help says how it is called" >&2
    exit 2
}

die() {
    echo "bare_machine: $*" >&2
    exit 1
}

# shellcheck disable=SC1091 # the system's own file
codename() { . /etc/os-release && echo "${VERSION_CODENAME:-}"; }

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The lines of sources.list for the suite: those that this machine has for its own release of Debian.
sources() {
    # shellcheck disable=SC2016 # for apt-get to expand
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(SITE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v own="$(codename)" -v suite="$suite" -v keyring="$keyring" '
            $1 == "Debian" && ($2 == own || index($2, own "-") == 1) {
                print "deb [signed-by=" keyring "] " $3 " " suite substr($2, length(own) + 1) " " $4
            }' | sort -u
}

# What this machine tells apt about proxies, and about dates that a mirror has let pass.
apt_settings() { apt-config dump | grep -E '^Acquire::(https?::|Retries|Check-)' || true; }

# The minimal Debian. Half of one is never taken for a whole one.
install_base() {
    [ ! -d "$base" ] || return 0
    command -v debootstrap >/dev/null || die "there is no debootstrap here: ./cmake/bootstrap.sh install debootstrap"
    lines=$(sources)
    mirror=$(echo "$lines" | awk -v suite="$suite" '$4 == suite { print $3; exit }')
    [ -n "$mirror" ] || die "apt-get knows no mirror of Debian $(codename); is this machine a Debian, and did it ever run apt-get update?"
    more=
    case "$mirror" in https:*) more=--include=ca-certificates ;; esac
    proxy=
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    say "installing a minimal $suite in $base"
    rm -rf "$base.half"
    # shellcheck disable=SC2086 # an option or none
    ${proxy:+env "http_proxy=$proxy"} debootstrap --variant=minbase --keyring="$keyring" $more \
        "$suite" "$base.half" "$mirror" >"$base.log" 2>&1 || { cat "$base.log"; die "debootstrap of $suite failed"; }
    echo "$lines" >"$base.half/etc/apt/sources.list"
    apt_settings >"$base.half/etc/apt/apt.conf.d/90machine"
    # Every machine has this file, but debootstrap does not write it.
    printf '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n' >"$base.half/etc/hosts"
    mv "$base.half" "$base"
}

copy_base() {
    if [ "$again" = no ] || [ ! -d "$machine" ]; then
        rm -rf --one-file-system "$machine" "$machine.half"
        cp -a "$base" "$machine.half"
        mv "$machine.half" "$machine"
    fi
    rm -f "$machine/etc/resolv.conf"
    [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$machine/etc/resolv.conf"
    # Certificates that this machine's npm trusts.
    [ -z "${NODE_EXTRA_CA_CERTS:-}" ] || cp -L "$NODE_EXTRA_CA_CERTS" "$machine/etc/npm.crt"
}

# The files keep their times, so that with --again only what has changed is compiled again.
copy_checkout() {
    copy=$machine/root/asio_retry
    say "cloning the checkout to $copy"
    rm -rf "$folder/$suite.checkout"
    git clone --quiet --no-checkout --no-hardlinks . "$folder/$suite.checkout"
    git ls-files -z --cached --others --exclude-standard | sort -zu |
        while_present | tar -cf - --null --no-recursion -T - | tar -xf - -C "$folder/$suite.checkout"
    git -C "$folder/$suite.checkout" reset --quiet
    [ ! -d "$copy/build" ] || mv "$copy/build" "$folder/$suite.checkout/build"
    rm -rf "$copy"
    mv "$folder/$suite.checkout" "$copy"
    chown -R root:root "$copy"
}

# Of the names read, those that are still there: a file may have been deleted and that not committed.
# shellcheck disable=SC2016 # for the other shell to expand
while_present() { xargs -0 sh -c 'for name; do [ ! -e "$name" ] && [ ! -L "$name" ] || printf "%s\0" "$name"; done' sh; }

# Runs as the first process of its namespaces, with the machine, the packages and the command. It stays, because
# somebody has to wait for orphans. A shell starts what runs in the background deaf to Ctrl-C, which a test may press.
# shellcheck disable=SC2016 # for that process to expand
first_process='
machine=$1 packages=$2
shift 2
mount -t proc proc "$machine/proc"
mount -t devpts -o newinstance,mode=620,gid=5,ptmxmode=666 devpts "$machine/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$machine/dev/shm"
mount --bind "$packages" "$machine/var/cache/apt/archives"
result=0
chroot "$machine" /usr/bin/env -i --default-signal=INT,QUIT HOME=/root TERM=dumb \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} ${no_proxy:+"no_proxy=$no_proxy"} \
    ${NODE_EXTRA_CA_CERTS:+"NODE_EXTRA_CA_CERTS=/etc/npm.crt"} \
    /bin/sh -c '\''cd /root/asio_retry && "$@"'\'' sh "$@" || result=$?
exit $result
'

# If this script ends, so does unshare, and with it that process and all others there; then the kernel takes the mounts
# away.
inside=
run_inside() {
    setpriv --pdeathsig=KILL unshare --mount --pid --fork --kill-child \
        /bin/sh -euc "$first_process" sh "$machine" "$packages" "$@" </dev/null &
    inside=$!
    result=0
    wait "$inside" || result=$?
    inside=
    return $result
}
end_inside() { [ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null || true; }

failed=
attempt_command() {
    say "on a bare $suite: $*"
    began=$(date +%s)
    result=0
    run_inside "$@" || result=$?
    took="after $(($(date +%s) - began)) s"
    if [ $result -eq 0 ]; then
        say "succeeded on a bare $suite $took: $*"
    else
        say "FAILED on a bare $suite with $result $took: $*"
        failed="$failed$*
"
    fi
}

again=no fresh=no folder=build/bare seconds=5
while [ $# -gt 0 ]; do
    case "$1" in
    --again) again=yes ;;
    --fresh) fresh=yes ;;
    --folder | --seconds)
        [ $# -gt 1 ] || refuse "$1 wants a value"
        [ "$1" != --folder ] || folder=$2
        [ "$1" != --seconds ] || seconds=$2
        shift
        ;;
    -h | --help | help)
        usage
        exit
        ;;
    -*) refuse "there is no option $1" ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || refuse "which suite: bookworm or trixie?"
suite=$1
shift
case "$suite" in
bookworm | trixie) ;;
*) refuse "there is no suite $suite; bookworm and trixie are the ones to choose from" ;;
esac
case "$seconds" in
'' | *[!0-9]*) refuse "--seconds wants a whole number and not '$seconds'" ;;
esac
[ "$again$fresh" != yesyes ] || refuse "--again keeps what --fresh makes anew: choose one"
git rev-parse HEAD >/dev/null || die "this is no checkout, or there is no git here"
if [ "$(id -u)" -ne 0 ]; then
    set -- --folder "$folder" --seconds "$seconds" "$suite" "$@"
    [ $again = no ] || set -- --again "$@"
    [ $fresh = no ] || set -- --fresh "$@"
    exec sudo ./cmake/bare_machine.sh "$@"
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
base=$folder/$suite.minimal machine=$folder/$suite packages=$folder/$suite.packages
exec 9>"$folder/$suite.lock"
flock -w 10 9 || die "another run with $suite in $folder has not ended"
trap end_inside EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

[ $fresh = no ] || rm -rf --one-file-system "$base" "$packages"
mkdir -p "$packages"
install_base
copy_base
copy_checkout
if [ $# -gt 0 ]; then
    attempt_command "$@"
else
    attempt_command ./try --seconds "$seconds"
    attempt_command ./check
fi
[ -z "$failed" ] || {
    echo "bare_machine: on a bare $suite failed" >&2
    printf '%s' "$failed" | sed 's/^/  /' >&2
    exit 1
}
