#!/usr/bin/env python3
"""Fails where the same ten lines of code stand in two places of a folder, and names both.
usage: copies.py FOLDER

Blank lines, comments, includes and lone punctuation do not count, nor does white space around a line.
"""
import pathlib
import re
import sys
import tempfile

LEAST = 10
COMMENT = {".cpp": "//|/\\*|\\* |#include", ".hpp": "//|/\\*|\\* |#include", ".mjs": "//|import ",
           ".cmake": "#", ".txt": "#", ".sh": "#", ".py": "#|import |from "}


def lines_of(file):
    """The lines that count, each with its number."""
    ignored = re.compile(rf"\W*|({COMMENT[file.suffix]}).*")
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    return [(number, line.strip()) for number, line in lines if not ignored.fullmatch(line.strip())]


def copies_in(folder):
    """Pairs of places. A place is a file, and the indexes of its first and last line among those that count."""
    seen = {}
    pairs = []
    for file in sorted(file for file in folder.rglob("*") if file.suffix in COMMENT):
        lines = [line for _, line in lines_of(file)]
        for start in range(len(lines) - LEAST + 1):
            there, begin = seen.setdefault(tuple(lines[start:start + LEAST]), (file, start))
            if there == file and begin + LEAST > start:
                continue
            last = pairs[-1] if pairs else None
            if last and last[0][0] == there and last[1][0] == file and last[0][2] == begin + LEAST - 2 \
                    and last[1][2] == start + LEAST - 2:
                last[0][2] += 1  # the copy is longer
                last[1][2] += 1
            else:
                pairs.append(([there, begin, begin + LEAST - 1], [file, start, start + LEAST - 1]))
    return pairs


def in_words(place, folder):
    file, first, last = place
    lines = lines_of(file)
    return f"{file.relative_to(folder.parent)}:{lines[first][0]}-{lines[last][0]}"


def finds_what_is_planted():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code = "".join(f"do_{i}();\n" for i in range(LEAST))
        (folder / "a.cpp").write_text("// a\n" + code)
        (folder / "b.hpp").write_text("int b;\n" + code.replace("do_5", "do_other"))
        if copies_in(folder):
            return False
        (folder / "b.hpp").write_text("int b;\n" + code.replace("do_5", "}\n\n  // b\n  do_5"))
        return [in_words(place, folder).split("/")[1] for pair in copies_in(folder) for place in pair] == \
            ["a.cpp:2-11", "b.hpp:2-14"]


def main(folder):
    if not finds_what_is_planted():
        return "does not find a copy that is planted"
    pairs = copies_in(folder)
    for first, second in pairs:
        print(f"{in_words(first, folder)} stands again at {in_words(second, folder)}")
    return 1 if pairs else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
