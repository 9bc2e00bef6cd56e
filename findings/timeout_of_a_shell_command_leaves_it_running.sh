#!/bin/sh
# A timeout of a shell command ends the shell, not the command: the retry runs beside the old attempt.
#
# One would expect: after `subprocess.run("...", shell=True, timeout=1)` or Node's `exec` with `timeout` has
# reported the timeout, the command is over.
# True is: both kill the process that they started, which is /bin/sh. A pipeline or list of commands runs
# in children of the shell. These go on, with nobody who waits for them. `timeout` of coreutils ends all,
# since it signals a process group.
# It matters: attempts overlap. Three attempts of a backup or a migration are three at once, on the same
# files, and a slow server gets each retry on top of the load that made it slow.
# Needs Node.
set -eu
echo "$(python3 --version), Node $(node --version), $(timeout --version | head -n 1)"
folder=$(mktemp -d)
trap 'kill $(cat "$folder/running") 2>/dev/null || :; rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

# The "command": says its process, takes half a minute.
cat >backup <<'END'
echo $$ >>running
exec sleep 30
END
cat >count <<'END'
sleep 0.5
count=0
for process in $(cat running); do
    if grep -q "S (sleeping)" "/proc/$process/status" 2>/dev/null; then count=$((count + 1)); fi
    kill "$process" 2>/dev/null || :
done
echo "$1: still running after the timeout of three attempts: $count"
: >running
END
cat >attempts.py <<'END'
import subprocess
for _ in range(3):
    try:
        subprocess.run("sh backup | cat", shell=True, timeout=1)
    except subprocess.TimeoutExpired:
        pass
END
cat >attempts.js <<'END'
const {exec} = require('child_process');
const attempt = (left) => left && exec('sh backup | cat', {timeout: 1000}, () => attempt(left - 1));
attempt(3);
END
{
    python3 attempts.py
    sh count "Python's subprocess.run"
    node attempts.js
    sh count "Node's exec"
    for _ in 1 2 3; do timeout 1 sh -c 'sh backup | cat' || :; done
    sh count "coreutils' timeout"
} >seen
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
Python's subprocess.run: still running after the timeout of three attempts: 3
Node's exec: still running after the timeout of three attempts: 3
coreutils' timeout: still running after the timeout of three attempts: 0
END
