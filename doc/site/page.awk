# A page of Markdown as Doxygen takes it: headings with the anchors that GitHub makes of them, and links to pages by
# those. A link to a file that the site has not becomes its text.
# The name of the page of that file: its folder and its own. A file at the top, whose name is in capitals, has only that.
function page_of(path,    parts, count) {
    while (sub(/[^\/]+\/\.\.\//, "", path))
        ;
    sub(/\.md$/, "", path)
    count = split(path, parts, "/")
    return tolower((parts[count] ~ /^[A-Z]/ ? "" : parts[count - 1] "_") parts[count])
}

function anchor_of(heading) {
    heading = tolower(heading)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}

# Doxygen ends code at a quotation mark, unless two backticks stand around it.
function with_quotes(line,    result, parts, count, i, marks) {
    count = split(line, parts, "`")
    if (count % 2 == 0)
        return line
    result = parts[1]
    for (i = 2; i < count; i += 2) {
        marks = parts[i] ~ /'/ ? "``" : "`"
        result = result marks parts[i] marks parts[i + 1]
    }
    return result
}

# The line with its links as Doxygen's; what stands in code stays.
function with_links(line,    result, text, target, parts) {
    line = with_quotes(line)
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
            target = parts[1] == "" ? page : page_of(folder parts[1])
            if (parts[2] != "")
                target = target "_" parts[2]
            else if (target == "readme")
                target = "index"
            gsub(/`/, "", text) # which Doxygen would show as they are
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
    page = page_of(FILENAME)
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
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

# A picture with one for the dark: its images are beside the page, see HTML_EXTRA_FILES.
/^<picture>$/, /^<\/picture>$/ {
    gsub(/="doc\//, "=\"")
    print /^<picture>$/ ? "\\htmlonly " $0 : /^<\/picture>$/ ? $0 " \\endhtmlonly" : $0
    next
}

/^#/ {
    heading = $0
    level = heading
    sub(/ .*/, "", level)
    sub(/^#+ +/, "", heading)
    gsub(/`/, "", heading) # some versions of Doxygen show in a heading the tag that they make of them
    if (level == "#" && page != "readme" && !titled++)
        print "# " heading " {#" page "}\n\n@tableofcontents{html:2}"
    else if (level == "#")
        print
    else {
        name = anchor_of(heading)
        print level " " heading " {#" page "_" name (used[name]++ ? "-" used[name] - 1 : "") "}"
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
