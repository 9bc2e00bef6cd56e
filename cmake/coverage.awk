# Reads llvm-cov's two exports: lines from lcov, branches from JSON, because only that says where in a line a branch is
# and so lets the instantiations of a template be counted as one. root and missing are set by coverage.sh.

function short(path) { return index(path, root) == 1 ? substr(path, length(root) + 1) : path }

function share(reached, all) { return all ? 100 * reached / all : 100 }

function row(name, lines_reached, lines, branches_reached, branches) {
    printf "%-52s %5d of %5d  %6.2f %%   %5d of %5d  %6.2f %%\n", name, lines_reached, lines,
        share(lines_reached, lines), branches_reached, branches, share(branches_reached, branches)
}

function require(what, reached, all, least) {
    if (share(reached, all) < least) {
        printf "coverage: %s: %.2f %%, must be at least %d %%\n", what, share(reached, all), least
        failed = 1
    }
}

function add_branches(file, list,    i, n, sites, site, place) {
    n = split(list, sites, "[][]+,*")
    for (i = 1; i <= n; ++i) {
        if (split(sites[i], site, ",") < 6)
            continue
        place = file ":" site[1] ":" site[2]
        taken[place ":true"] += site[5]
        taken[place ":false"] += site[6]
    }
}

FILENAME ~ /lcov$/ && /^SF:/ { file = short(substr($0, 4)); files[++count] = file }
FILENAME ~ /lcov$/ && /^DA:/ { split(substr($0, 4), da, ","); hits[file ":" da[1]] += da[2] }

FILENAME ~ /json$/ {
    n = split($0, parts, "\"branches\":")
    for (p = 2; p <= n; ++p) {
        match(parts[p], /"filename":"[^"]*"/)
        name = short(substr(parts[p], RSTART + 12, RLENGTH - 13))
        match(parts[p], /^\[(\[[0-9,]*\],?)*\]/)
        add_branches(name, substr(parts[p], 1, RLENGTH))
    }
}

END {
    for (place in hits) {
        split(place, at, ":")
        ++lines[at[1]]; ++all_lines
        if (hits[place]) { ++lines_reached[at[1]]; ++all_lines_reached }
        else not_reached[++misses] = place ": line"
    }
    for (place in taken) {
        split(place, at, ":")
        ++branches[at[1]]; ++all_branches
        if (taken[place]) { ++branches_reached[at[1]]; ++all_branches_reached }
        else not_reached[++misses] = at[1] ":" at[2] ":" at[3] ": never " at[4]
    }
    printf "%-52s %24s   %24s\n", "", "lines", "branches"
    for (i = 1; i <= count; ++i) {
        f = files[i]
        row(f, lines_reached[f], lines[f], branches_reached[f], branches[f])
        if (f ~ /\/(retry_machine|backoff|jitter)\.[ch]pp$/) {
            ++policies
            require("branches of " f, branches_reached[f], branches[f], 100)
        }
    }
    row("all", all_lines_reached, all_lines, all_branches_reached, all_branches)
    if (missing == "yes") {
        print "not reached:"
        for (i = 1; i <= misses; ++i) print not_reached[i] | "sort -t: -k1,1 -k2,2n -k3,3n"
        close("sort -t: -k1,1 -k2,2n -k3,3n")
    }
    require("lines", all_lines_reached, all_lines, 98)
    require("branches", all_branches_reached, all_branches, 95)
    if (policies < 6) { print "coverage: retry_machine, backoff and jitter are not all there"; failed = 1 }
    exit failed
}
