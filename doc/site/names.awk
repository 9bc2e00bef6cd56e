# What can be found, from Doxygen's tag file: [name, kind, address, parameters] for each public name, page and heading.
function text_of(line) {
    gsub(/<[^>]*>/, "", line)
    gsub(/^ +| +$/, "", line)
    gsub(/&lt;/, "<", line)
    gsub(/&gt;/, ">", line)
    gsub(/&quot;/, "'", line)
    gsub(/&amp;/, "\\&", line)
    gsub(/\\/, "", line)
    gsub(/"/, "'", line)
    return line
}

function add(name, kind, address, parameters) {
    key = name kind address
    if (name != "" && address !~ /^#/ && !(key in seen)) {
        seen[key] = 1
        printf "%s[\"%s\", \"%s\", \"%s\", \"%s\"]", (count++ ? ",\n" : ""), name, kind, address, parameters
    }
}

function with_html(file) {
    return file ~ /\.html$/ ? file : file ".html"
}

BEGIN {
    print "const names = ["
}

/<compound kind=/ {
    compound = $0
    sub(/.*kind="/, "", compound)
    sub(/".*/, "", compound)
    compound_name = title = file = ""
    in_member = 0
}

/<member kind=/ {
    member = $0
    sub(/.*kind="/, "", member)
    sub(/".*/, "", member)
    in_member = 1
    member_name = member_file = anchor = parameters = ""
}

in_member && /<name>/ { member_name = text_of($0) }
in_member && /<anchorfile>/ { member_file = text_of($0) }
in_member && /<arglist>/ { parameters = text_of($0) }
in_member && /<anchor>/ { anchor = text_of($0) }

!in_member && /<name>/ { compound_name = text_of($0) }
!in_member && /<title>/ { title = text_of($0) }
!in_member && /<filename>/ { file = text_of($0) }

/<\/member>/ {
    in_member = 0
    scope = compound_name
    name = member_name
    if (compound == "class" || compound == "struct") {
        sub(/^.*::/, "", scope)
        sub(/<.*/, "", scope)
        name = scope "::" member_name
    }
    if (compound != "file" && compound != "dir")
        add(name, member == "enumvalue" ? "enumerator" : member, with_html(member_file) "#" anchor, parameters)
}

/<docanchor/ {
    heading = $0
    sub(/.*title="/, "", heading)
    sub(/".*/, "", heading)
    where = $0
    sub(/.*file="/, "", where)
    sub(/".*/, "", where)
    if ($0 ~ /title="/)
        add(text_of(heading), "page", with_html(where) "#" text_of($0))
}

/<\/compound>/ {
    if (compound == "page")
        add(title, "page", with_html(file))
    else if (compound == "file")
        add(compound_name, "header", with_html(file))
    else if (compound == "class" || compound == "struct") {
        sub(/^asio_retry::/, "", compound_name)
        add(compound_name, compound, with_html(file))
    } else if (compound == "concept") {
        sub(/^asio_retry::/, "", compound_name)
        add(compound_name, compound, with_html(file))
    }
}

END {
    print "\n];"
}
