#!/usr/bin/env python3
"""Runs the retry packages of other languages, with their timers and draws replaced, and compares with golden/peers.
usage: record.py NODE PACKAGES FOLDER [--write]

PACKAGES has node_modules; the scripts run in FOLDER. --write notes what was found instead. A version of Debian's
Python packages that golden/peers does not have must agree, in all cases of both, with the newest one before it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "peers"
HEAD = "version,case,failures,draw,calls,delays"
PYTHON = "/usr/bin/python3"  # the distribution has its packages for its own
OF_PYTHON = ["botocore", "tenacity", "urllib3"]
OF_NODE = ["axios_retry", "cockatiel", "got", "grpc_js", "p_retry", "smithy"]


def missing(node, packages):
    """What is not here, if anything."""
    if not node.startswith("/"):
        return "Node"
    if not (packages / "node_modules" / "p-retry").is_dir():
        return "package of Node to run"
    for package in OF_PYTHON:
        if subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True).returncode != 0:
            return f"python3-{package}"
    return None


def printed(command, folder):
    """The rows of a script. Whatever it says else is shown."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{command[-1]} ended with {done.returncode}")
    return done.stdout.splitlines()


def cells(row):
    """Its version, its case with the draw, and all."""
    version, case, failures, draw, rest = row.split(",", 4)
    return version, f"{case},{failures},{draw}", rest


def order(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def differences(name, rows, golden):
    """Lines that say what is not as it was."""
    version = cells(rows[0])[0]
    known = {cells(row)[0] for row in golden}
    nearest = max((each for each in known if order(each) <= order(version)), key=order, default=None)
    expected = {case: rest for each, case, rest in map(cells, golden) if each == nearest}
    found = {case: rest for _, case, rest in map(cells, rows)}
    cases = sorted(expected.keys() | found.keys() if version == nearest else expected.keys() & found.keys())
    if not cases:
        return [f"{name} {version}: nothing to compare with"]
    return [f"{name} {version}, {case}: {found.get(case)}, and in version {nearest}: {expected.get(case)}"
            for case in cases if found.get(case) != expected.get(case)]


def finds_what_is_planted():
    golden = ["1.2,a,always,0,3,5 7", "1.10,a,always,0,3,5 8", "1.10,b,always,0,1,"]
    told = [differences("it", rows, golden) for rows in (
        golden[1:], golden[1:2], ["1.10,a,always,0,4,5 8"], ["1.9,a,always,0,3,5 7", "1.9,c,always,0,3,5 7"],
        ["1.9,a,always,0,3,5 8"], ["2.0,b,always,0,1,"], ["1.1,a,always,0,3,5 7"])]
    return [len(each) for each in told] == [0, 1, 2, 0, 1, 0, 1]


def main(node, packages, folder, *options):
    packages = pathlib.Path(packages).resolve()
    absent = missing(node, packages)
    if absent is not None:
        print(f"skipped: there is no {absent} here; ./cmake/bootstrap.sh install-services gets it")
        return 77
    if not finds_what_is_planted():
        return "does not find a difference that is planted"
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE, folder)
    os.symlink(packages / "node_modules", folder / "node_modules")
    told = []
    for name in OF_PYTHON + OF_NODE:
        command = [PYTHON, "-B", f"{name}_rows.py"] if name in OF_PYTHON else [node, f"{name}.mjs"]
        rows = printed(command, folder)
        file = GOLDEN / f"{name}.csv"
        golden = file.read_text(encoding="utf-8").splitlines()[1:] if file.exists() else []
        if "--write" in options:
            others = [row for row in golden if cells(row)[0] != cells(rows[0])[0]]
            text = "\n".join([HEAD] + sorted(others + rows, key=lambda row: order(cells(row)[0]))) + "\n"
            file.write_text(text, encoding="utf-8")
        else:
            told += differences(name, rows, golden)
    if told:
        print(*told, sep="\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
