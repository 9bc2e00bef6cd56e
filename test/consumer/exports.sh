#!/bin/sh
# exports.sh NM STATIC-LIBRARY SHARED-LIBRARY RESPONSE-FILE: the objects that the file names use nothing of the library that
# the shared one does not export.
set -eu
nm=$1 static=$2 shared=$3 objects=$4
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT

"$nm" -P --defined-only --extern-only "$static" | awk 'NF > 1 { print $1 }' | sort -u >"$lists/defined"
"$nm" -P --defined-only --dynamic "$shared" | awk '{ print $1 }' | sort -u >"$lists/exported"
# Of Asio's own, which objects may leave to each other, the library has copies.
"$nm" -P --undefined-only "@$objects" | awk '$2 == "U" && /10asio_retry/ { print $1 }' | sort -u >"$lists/used"
comm -12 "$lists/used" "$lists/defined" >"$lists/needed"
comm -23 "$lists/needed" "$lists/exported" >"$lists/missing"
echo "$(wc -l <"$lists/needed") names of the library are used"
if [ -s "$lists/missing" ]; then
    echo "the shared library does not export:"
    c++filt <"$lists/missing"
    exit 1
fi
[ -s "$lists/needed" ]
