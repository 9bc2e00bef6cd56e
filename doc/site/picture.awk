# Draws a picture of doc/internals/pictures, of rooms or of a road, for the light and for the dark:
#
#   awk -f doc/site/picture.awk road_limit.txt >road_limit.svg
#
# A line of the description:
#   title WORDS
#   floor NAME                             a kind of rooms, with its own colour
#   room NAME COLUMN ROW [WIDTH]           a room of the floor above, in a grid
#   NAME -> NAME [gap N]                   the first room uses the second; the arrow goes down right of column N
#   outside NAME WORDS                     who takes part in the road, but is not in the library
#   part NAME FOLDER/FILE                  who takes part: a file, or a header with its source
#   phase WORDS                            a part of the road
#   NAME -> NAME FUNCTION [= ANSWER]       the first calls that function of the second
# test/pictures.cmake compares them with the code.
function rest(from,    i, words) {
    for (i = from; i <= NF; ++i)
        words = words (i > from ? " " : "") $i
    return words
}
function fail(what) {
    print FILENAME ":" FNR ": " what >"/dev/stderr"
    failed = 1
}
function draw(what) {
    body = body what "\n"
}
function text(x, y, what, attributes) {
    draw("<text x=\"" x "\" y=\"" y "\"" attributes ">" what "</text>")
}
function line(path) {
    draw("<path class=\"line\" d=\"" path "\"/>")
}
# dx, dy: where the tip points.
function tip(x, y, dx, dy) {
    draw("<path class=\"tip\" d=\"M" x " " y " L" x - 7 * dx + 4 * dy " " y - 7 * dy + 4 * dx " L" \
         x - 7 * dx - 4 * dy " " y - 7 * dy - 4 * dx " Z\"/>")
}

BEGIN {
    split("gate wait run good out", colours)
    lane = 11   # from one line of life to the next
    row = 16    # from one call to the next
    cell = 66   # width of a room
    gap = 18    # between rooms
    storey = 56 # from one row of rooms to the next
    high = 28   # a room
}

/^(#|$)/ { next }
$1 == "title" { title = rest(2); next }

# --- rooms

$1 == "floor" {
    floor = $2
    colour = colours[++floors]
    floor_at[floors] = floor
    next
}
$1 == "room" {
    is_rooms = 1
    x[$2] = ($3 - 1) * (cell + gap) + 1
    y[$2] = ($4 - 1) * storey + 1
    wide[$2] = $5 == "" ? cell : $5 * (cell + gap) - gap
    if (y[$2] + high > bottom)
        bottom = y[$2] + high
    rooms = rooms "<rect class=\"" colour "\" x=\"" x[$2] "\" y=\"" y[$2] "\" width=\"" wide[$2] "\" height=\"" high "\" rx=\"4\"/>\n" \
        "<text x=\"" x[$2] + wide[$2] / 2 "\" y=\"" y[$2] + 18 "\" text-anchor=\"middle\">" $2 "</text>\n"
    next
}
function uses(user, used,    from, to, middle) {
    middle = x[user] + wide[user] / 2
    if ($4 == "gap") {
        from = y[user] + high / 2
        to = y[used] + high / 2
        middle = $5 * (cell + gap) - gap / 2 + 1
        user = x[user] + (middle > x[user] ? wide[user] : 0)
        line("M" user " " from " H" middle " V" to " H" x[used] + (middle > x[used] ? wide[used] : 0))
        tip(x[used] + (middle > x[used] ? wide[used] : 0), to, middle > x[used] ? -1 : 1, 0)
    } else if (y[user] == y[used]) {
        line("M" x[user] + wide[user] " " y[user] + high / 2 " H" x[used])
        tip(x[used], y[used] + high / 2, 1, 0)
    } else { # to the next row that has the room
        from = y[user] + high
        to = x[used] + wide[used] / 2
        if (wide[used] > cell)
            to = middle
        else # apart from other arrows to the same room
            to += (middle > to ? 1 : middle < to ? -1 : 0) * 16
        line("M" middle " " from " V" y[used] - 18 " H" to " V" y[used])
        tip(to, y[used], 0, 1)
    }
}

# --- a road

$1 == "outside" || $1 == "part" {
    x[$2] = 8 + lane * lanes++
    began[lanes] = lanes * row - 7
    if ($1 == "part")
        text(x[$2] + 7, lanes * row - 3, $3, " class=\"code\"")
    else
        text(x[$2] + 7, lanes * row - 3, rest(3), " class=\"soft\"")
    draw("<circle class=\"" ($1 == "part" ? "run" : "out") "\" cx=\"" x[$2] "\" cy=\"" lanes * row - 7 "\" r=\"3.5\"/>")
    last = lanes * row + 4
    next
}
$1 == "phase" {
    last += 8
    draw("<rect class=\"band\" x=\"0\" y=\"" last "\" width=\"400\" height=\"19\"/>")
    text(8, last + 14, rest(2), "")
    last += 21
    next
}
function calls(caller, called, name,    middle, answer, words) {
    middle = last + row / 2
    words = called ": " name (NF > 4 ? " = " $6 : "")
    if (length(words) * 29 > 4 * (392 - lanes * lane)) # a letter takes 7.25 pixels; no awk differs in whole numbers
        fail("\"" words "\" is too long")
    if (caller == called)
        draw("<circle class=\"tip\" cx=\"" x[caller] "\" cy=\"" middle "\" r=\"3.5\"/>")
    else {
        line("M" x[caller] " " middle " H" x[called])
        tip(x[called], middle, x[called] > x[caller] ? 1 : -1, 0)
    }
    if ($5 == "=")
        answer = "<tspan class=\"soft\"> = " $6 "</tspan>"
    text(lanes * lane + 8, middle + 4, "<tspan class=\"soft\">" called ": </tspan>" name answer, " class=\"code\"")
    last += row
}

$2 == "->" {
    if (!($1 in x) || !($3 in x))
        fail("who is that?")
    if (is_rooms)
        uses($1, $3)
    else
        calls($1, $3, $4)
    next
}
{ fail("\"" $1 "\" is no word of pictures") }

END {
    if (failed)
        exit 1
    width = 400
    height = last + 4
    if (is_rooms) {
        width = 5 * (cell + gap) + 2
        height = bottom + 28
        for (i = 1; i <= floors; ++i) {
            draw("<rect class=\"" colours[i] "\" x=\"" i * 84 - 83 "\" y=\"" bottom + 12 "\" width=\"12\" height=\"12\" rx=\"2\"/>")
            text(i * 84 - 66, bottom + 22, floor_at[i], " class=\"soft\"")
        }
    }
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " width " " height "\" width=\"350\" height=\"" int((700 * height + width) / (2 * width)) \
        "\" font-family=\"sans-serif\" font-size=\"12\">"
    print "<title>" title "</title>"
    print "<style>"
    print "svg { color-scheme: light dark }"
    print ".page { fill: #ffffff } text { fill: #24292f } .soft { fill: #57606a } .code { font-family: monospace }"
    print ".line { stroke: #57606a; fill: none } .tip { fill: #57606a } .life { stroke: #d0d7de } .band { fill: #eaeef2 }"
    print ".run { fill: #ddf4ff; stroke: #0969da } .good { fill: #dafbe1; stroke: #1f883d }"
    print ".gate { fill: #fff8c5; stroke: #9a6700 } .wait { fill: #f6f8fa; stroke: #8c959f }"
    print ".out { fill: #ffffff; stroke: #8c959f; stroke-dasharray: 4 3 }"
    print "@media (prefers-color-scheme: dark) {"
    print ".page { fill: #14171c } text { fill: #e6edf3 } .soft { fill: #9198a1 }"
    print ".line { stroke: #9198a1 } .tip { fill: #9198a1 } .life { stroke: #3d444d } .band { fill: #21262d }"
    print ".run { fill: #12314f; stroke: #4493f8 } .good { fill: #12361f; stroke: #3fb950 }"
    print ".gate { fill: #3d2f00; stroke: #d29922 } .wait { fill: #21262d; stroke: #6e7681 }"
    print ".out { fill: #14171c; stroke: #6e7681 }"
    print "}"
    print "</style>"
    print "<rect class=\"page\" width=\"100%\" height=\"100%\"/>"
    for (i = 1; i <= lanes; ++i)
        print "<line class=\"life\" x1=\"" 8 + lane * (i - 1) "\" y1=\"" began[i] "\" x2=\"" 8 + lane * (i - 1) "\" y2=\"" last "\"/>"
    printf "%s%s", body, rooms
    print "</svg>"
}
