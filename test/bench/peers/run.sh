#!/bin/sh
# Measures the retry packages of other languages: run.sh OUTPUT_FOLDER BUILD_FOLDER [--quick] [--only REGEX]
#
# Debian 12: golang-go golang-github-cenkalti-backoff-dev nodejs npm python3-tenacity
# What cannot be measured is told of in the output, for nobody would miss a line that is not there.
set -eu
export LC_ALL=C

if [ $# -lt 2 ]; then
    echo "usage: run.sh OUTPUT_FOLDER BUILD_FOLDER [--quick] [--only REGEX]" >&2
    exit 2
fi
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
mkdir -p "$1" "$2"
output=$(CDPATH='' cd "$1" && pwd)
build=$(CDPATH='' cd "$2" && pwd)
shift 2
quick=
only=
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=--quick ;;
    --only)
        only=${2-}
        [ $# -eq 1 ] || shift
        ;;
    esac
    shift
done
errors=$build/peer_errors

all='first_try zero_delay storm_1k'
[ "$quick" = --quick ] || all="$all storm_100k storm_1m cancel_100k cancel_1m"
workloads=
for workload in $all; do
    name=$workload
    [ "$workload" != zero_delay ] || name=zero_delay_1 # as the results call it
    if printf '%s\n' "$name" | grep -q -E -e "$only"; then workloads="$workloads $workload"; fi
done
[ -n "$workloads" ] || exit 0

# The last line that tells a cause; after it, npm gives advice and Node its version.
reason() {
    {
        grep -m 1 '^npm .* code ' "$errors" || grep -v -e '^[[:space:]]*$' -e '^Node\.js v' "$errors" | tail -n 1
    } | tr -d '\042\134' | tr -s '[:cntrl:]' ' ' | cut -c 1-300 | sed 's/ *$//'
}

# prepare NAME CONTENDER COMMAND...: without success, the peer's one line is why
prepare() {
    name=$1
    contender=$2
    shift 2
    echo "== $name: prepare" >&2
    status=0
    timeout 300 "$@" >"$errors" 2>&1 || status=$?
    [ $status -eq 0 ] && return
    printf '{"contender":"%s","unavailable":"%s"}\n' "$contender" "cannot be prepared, exit code $status: $(reason)" \
        >"$output/$name.jsonl"
    return 1
}

# measure NAME CONTENDER COMMAND...
measure() {
    name=$1
    contender=$2
    shift 2
    for workload in $workloads; do
        echo "== $name: $workload" >&2
        status=0
        line=$(timeout 300 "$@" "$workload" ${quick:+"$quick"} 2>"$errors") || status=$?
        if [ $status -eq 0 ]; then
            printf '%s\n' "$line"
        else
            printf '{"workload":"%s","contender":"%s","unavailable":"%s"}\n' "$workload" "$contender" \
                "exit code $status: $(reason)"
        fi
    done >"$output/$name.jsonl"
}

if prepare go 'Go cenkalti/backoff' \
    env GO111MODULE=off GOPATH=/usr/share/gocode go build -o "$build/go-peer" "$here/go/main.go"; then
    measure go 'Go cenkalti/backoff' "$build/go-peer"
fi

# The programs find their packages beside themselves.
mkdir -p "$build/node"
cp "$here"/node/* "$build/node"
for package in p-retry cockatiel; do
    if prepare $package "Node $package" \
        npm ci --prefix "$build/node" --no-audit --no-fund --prefer-offline --fetch-retries=1; then
        measure $package "Node $package" node --expose-gc "$build/node/$package.mjs"
    fi
done

# Debian's interpreter, which Debian's package belongs to.
if prepare tenacity 'Python tenacity' /usr/bin/python3 -c 'import tenacity'; then
    measure tenacity 'Python tenacity' /usr/bin/python3 "$here/tenacity.py"
fi
