# Finishes the pages that Doxygen has made: sidebar, previous and next page, one <h1> for each page, headings that the
# search can lead to.
#
#   awk -f doc/site/finish.awk doc/site/pages names.xml *.html
#
# names.xml is Doxygen's tag file. Each page is written to a file beside it, with ".new" behind its name.
function fail(what) {
    print "doc/site/pages: " what >"/dev/stderr"
    failed = 1
}

# What stands between the first tag of that name and its end, in a line of the tag file.
function content(line, tag) {
    sub(".*<" tag ">", "", line)
    sub("</" tag ">.*", "", line)
    return line
}

function link(i, attributes) {
    if (words[i] != "")
        attributes = attributes " data-words=\"" words[i] "\""
    return "<a href=\"" address[i] "\"" attributes ">" title[i] "</a>"
}

# The list has been read, and the titles: what is listed and not there yet is left out.
function arrange(    i, name) {
    for (i = 1; i <= listed; ++i) {
        name = list_name[i]
        if (name in title_of || name ~ /\.html/) {
            address[++count] = name ~ /\.html/ ? name : name ".html"
            title[count] = list_title[i] == "" ? title_of[name] : list_title[i]
            group[count] = list_group[i]
            words[count] = list_words[i]
            sub(/#.*/, "", name)
            sub(/\.html$/, "", name)
            place[name] = count
        } else
            print "doc/site/pages: there is no page " name " yet" >"/dev/stderr"
    }
    for (name in title_of)
        if (!(name in place))
            fail(name " (" title_of[name] ") is in no group: add a line for it")
}

# A page of a public name is in the group of the list of those.
function print_sidebar(here,    i, open_group) {
    open_group = group[here ? here : place["annotated"]]
    for (i = 1; i <= count; ++i) {
        if (group[i] != group[i - 1])
            print "<details" (group[i] == open_group ? " open=\"open\"" : "") "><summary>" group[i] "</summary>" >out
        print link(i, i == here ? " aria-current=\"page\"" : "") >out
        if (group[i] != group[i + 1])
            print "</details>" >out
    }
}

function print_neighbours(here) {
    if (here > 1)
        print link(here - 1, " rel=\"prev\"") >out
    if (here && here < count)
        print link(here + 1, " rel=\"next\"") >out
}

FNR == 1 {
    ++files
    if (files == 3)
        arrange()
    if (files > 2) {
        close(out)
        out = FILENAME ".new"
        name = FILENAME
        sub(/.*\//, "", name)
        sub(/\.html$/, "", name)
        here = place[name]
        is_reference = name ~ /^(class|struct|namespace|concept)asio_/ && name !~ /-members/
        is_text = here && group[here] != "Internals" && name !~ /^(annotated|files|doc_headers|changelog)$/
    }
}

files == 1 {
    if (/^[^ #]/)
        now = $0
    else if (/^ /) {
        list_name[++listed] = $1
        list_group[listed] = now
        split($0, parts, " *; *")
        sub(/^ *[^ ]+ */, "", parts[1])
        list_title[listed] = parts[1]
        list_words[listed] = parts[2]
    }
    next
}

files == 2 {
    if (/<compound kind=/)
        is_page = /kind="page"/
    else if (is_page && /<title>/)
        page_title = content($0, "title")
    else if (is_page && /<filename>/) {
        name = content($0, "filename")
        sub(/\.html$/, "", name) # which some versions of Doxygen write
        title_of[name] = page_title
    }
    next
}

# What the search finds in: the text of the pages before that of the reference.
/^<main>$/ && (is_text || is_reference) {
    sub(/>/, " data-pagefind-body=\"\"" (is_reference ? " data-pagefind-weight=\"0.2\"" : "") ">")
}

# A section: Doxygen's level is one too high, and its name is that of an element before the text.
match($0, /<h[1-5][^>]*><a class="anchor" id="[^"]*"><\/a>$/) {
    level = substr($0, RSTART + 2, 1)
    anchor = substr($0, RSTART)
    sub(/.* id="/, "", anchor)
    sub(/".*/, "", anchor)
    before = substr($0, 1, RSTART - 1)
    getline
    sub("</h" level ">", "</h" (level + 1) ">")
    print before "<h" (level + 1) " id=\"" anchor "\">" $0 >out
    next
}

/^<a id="[^"]*" name="[^"]*"><\/a>$/ {
    anchor = $0
    getline
    if (/^<h2 class="memtitle">/) {
        split(anchor, parts, "\"")
        sub(/>/, " id=\"" parts[2] "\">")
    } else
        print anchor >out
}

/<div class="title">/ {
    sub(/<div class="title">/, "<h1 class=\"title\">")
    sub(/ *<\/div>/, "</h1>")
}

# On a phone each cell stands below the name of its column.
/^<th class="markdownTable/ {
    columns = split($0, labels, "</th>")
    for (i = 1; i <= columns; ++i) {
        gsub(/<[^>]*>|^ +| +$/, "", labels[i])
        gsub(/"/, "\\&quot;", labels[i])
    }
}

/^<td class="markdownTable/ {
    count_of_cells = split($0, cells, "<td ")
    $0 = ""
    for (i = 2; i <= count_of_cells; ++i)
        $0 = $0 "<td data-label=\"" labels[i - 1] "\" " cells[i]
}

# Doxygen's own name of a page, which tells the path.
{
    sub(/<a class="anchor" id="md_[^"]*"><\/a>/, "")
    sub(/<p ?><\/p>/, "")
    gsub(/<span class="permalink">.*<\/span>/, "")
    sub(/<h3>Table of Contents<\/h3>/, "<h3>On this page</h3>")
    gsub(/ onclick="[^"]*"/, "") # Doxygen's scripts are left out
    print >out
}

/^<nav id="sidebar"/ {
    print_sidebar(here)
}

/^<nav id="neighbours"/ {
    print_neighbours(here)
}

END {
    exit failed
}
