#!/bin/sh
# Builds the site of the guide and of the reference: cmake/docs.sh [FOLDER], build/docs by default. Fails where a public
# name is not documented or a page is not found; with 77 where there is no Doxygen.
set -eu
cd "$(dirname "$0")/.."
command -v doxygen >/dev/null || {
    echo "docs: there is no doxygen: \`./cmake/bootstrap.sh install doxygen\` gets it" >&2
    exit 77
}
SITE=${1:-build/docs}
export SITE
rm -rf "$SITE"
mkdir -p "$SITE"
doxygen doc/site/Doxyfile
awk -f doc/site/names.awk "$SITE/names.xml" >"$SITE/html/names.js"
