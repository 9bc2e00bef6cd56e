#!/bin/sh
# symbols.sh NM LIST SHARED-LIBRARY...: the libraries export the names of the list and no other. What inline functions and templates
# leave is not counted, because compilers differ in it, and a version of Boost in a name is left out. With UPDATE=1 the list is
# written instead.
set -eu
nm=$1 list=$2
shift 2
found=$(mktemp)
trap 'rm -f "$found"' EXIT

for library in "$@"; do "$nm" -P --defined-only --dynamic "$library"; done |
    awk '$2 ~ /^[TDBR]$/ && /10asio_retry/ { print $1 }' | c++filt |
    sed 's/_with_boost_[0-9]*$/_with_boost_VERSION/' | LC_ALL=C sort -u >"$found"
[ "${UPDATE:-}" != 1 ] || cp "$found" "$list"
diff "$list" "$found" || {
    echo "The list is $list: < it has what the libraries do not export, > it lacks what they do." >&2
    exit 1
}
[ -s "$found" ]
