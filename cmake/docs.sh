#!/bin/sh
# Builds the site of the guide and of the reference: cmake/docs.sh [FOLDER], build/docs by default. Fails where a public
# name is not documented, a page is not found, or doc/site/pages does not list it; with 77 where there is no Doxygen.
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
awk -f doc/site/finish.awk doc/site/pages "$SITE/names.xml" "$SITE"/html/*.html
for page in "$SITE"/html/*.html; do mv "$page.new" "$page"; done

# Without npm the site is complete, but for the full text search. Who has this version of Pagefind needs no network.
full_text=true
npx --yes --prefer-offline --fetch-retries=1 pagefind@1.6.0 --site "$SITE/html" --quiet \
    --exclude-selectors ".toc, .navpath, .summary, .ttc, #neighbours" || {
    echo "docs: npx cannot run Pagefind here, so the search finds titles, headings and names, but no text" >&2
    command -v npx >/dev/null || echo "docs: \`./cmake/bootstrap.sh install npm\` gets npx" >&2
    full_text=false
}
echo "const fullText = $full_text;" >>"$SITE/html/names.js"
