# A page of Markdown as Doxygen takes it: headings with the anchors that GitHub makes of them, and links to pages by
# those. A link to a file that the site has not becomes its text.
# The name of the page of that file: its own, or one that says that it is in the guide.
function page_of(path,    in_guide) {
    in_guide = path ~ /guide\// || (path !~ /\// && page ~ /^guide_/)
    sub(/^.*\//, "", path)
    sub(/\.md$/, "", path)
    return (in_guide ? "guide_" : "") tolower(path)
}

function anchor_of(heading) {
    heading = tolower(heading)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}

# The line with its links as Doxygen's; what stands in code stays.
function with_links(line,    result, text, target, parts) {
    result = ""
    while (match(line, /!?\[[^]]*\]\([^)]*\)/)) {
        result = result substr(line, 1, RSTART - 1)
        text = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        target = text
        sub(/^.*\]\(/, "", target)
        sub(/\)$/, "", target)
        if (text ~ /^!/) {
            sub(/\(\.\.\//, "(", text)
            result = result text
            continue
        }
        if (target ~ /^https?:/) {
            result = result text
            continue
        }
        sub(/\]\([^)]*\)$/, "", text)
        sub(/^\[/, "", text)
        split(target, parts, "#")
        if (parts[1] == "" || parts[1] ~ /\.md$/) {
            target = parts[1] == "" ? page : page_of(parts[1])
            if (parts[2] != "")
                target = target "_" parts[2]
            else if (target == "readme")
                target = "index"
            result = result "[" text "](@ref " target ")"
        } else
            result = result text
    }
    return result line
}

# Bold text that has code in it, which Doxygen does not know; stars in code are what they are.
function with_bold(line,    result, parts, count, i, opened) {
    count = split(line, parts, "`")
    for (i = 1; i <= count; ++i) {
        while (i % 2 && sub(/\*\*/, opened ? "</b>" : "<b>", parts[i]))
            opened = !opened
        result = result (i > 1 ? "`" : "") parts[i]
    }
    return opened ? line : result
}

FNR == 1 {
    page = ""
    page = page_of(FILENAME)
}

# The text of a link may go on in the next line. Its lines are held until they are one; what begins something else ends
# them.
function print_held() {
    if (held != "")
        print with_links(with_bold(held))
    held = ""
}

/^($|```|#| *([-*>|]|[0-9]+\.))/ {
    print_held()
}

/^```/ {
    in_code = !in_code
    sub(/^```(text|sh|cmake)$/, "```{.unparsed}")
    print
    next
}

in_code {
    print
    next
}

/^#/ {
    heading = $0
    level = heading
    sub(/ .*/, "", level)
    sub(/^#+ +/, "", heading)
    if (level == "#" && page != "readme" && !titled++)
        print "# " heading " {#" page "}"
    else if (level == "#")
        print
    else {
        anchor = anchor_of(heading)
        if (count_of[anchor]++) # a heading that stands again, as "New" of each version
            anchor = anchor "-" count_of[anchor] - 1
        print level " " heading " {#" page "_" anchor "}"
    }
    next
}

/^$/ {
    print
    next
}

{
    if (held != "") {
        sub(/^ +/, "")
        $0 = held " " $0
    }
    held = $0
    if (held !~ /\[[^]]*$/)
        print_held()
}

END {
    print_held()
}
