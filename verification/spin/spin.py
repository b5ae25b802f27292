# SPDX-License-Identifier: BSL-1.0
"""Runs one search: spin makes a program of the model, which looks at every state."""

import pathlib
import re
import shlex
import subprocess
import time
from dataclasses import dataclass

from searches import PROPERTIES

HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE / "share_word.pml"

# No partial-order reduction, no hashing of states: each is stored and looked at.
COMPILE = ["cc", "-w", "-DNOREDUCE", "-DCOLLAPSE", "-DMEMLIM=12000"]
# What is small is searched sooner than it is optimized. Depth and a table's size are no bounds of the
# search: too small a depth fails it, too small a table slows it.
SIZES = {
    "small": ("-O0", "-m400000", "-w18"),
    "large": ("-O2", "-m4000000", "-w24"),
    "huge": ("-O2", "-m40000000", "-w27"),
}
CUT_SHORT = ("max search depth too small", "not completed", "reached -DMEMLIM", "out of memory")


class Broken(Exception):
    """A tool that should work does not."""


@dataclass
class Result:
    verdict: str  # complete, refuted, or unknown
    reason: str  # of a refutation, or why nothing is known
    states: int = 0
    depth: int = 0
    seconds: float = 0.0
    unreached: tuple = ()


def call(command, folder, seconds=None):
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    except FileNotFoundError as error:
        raise Broken(f"there is no {command[0]}") from error


def must(command, folder):
    done = call(command, folder)
    if done.returncode != 0:
        raise Broken(f"{shlex.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def run(search, folder, seconds, more_flags=()):
    """Searches in a folder, which keeps the trail of what it found."""
    asked = PROPERTIES[search.property]
    must(["spin", "-a", *search.macros, str(MODEL)], folder)
    level, *extent = SIZES[search.size]
    must([*COMPILE, level, *asked.compile, *more_flags, "-o", "pan", "pan.c"], folder)
    begin = time.monotonic()
    try:
        done = call(["./pan", *extent, *asked.search], folder, seconds)
    except subprocess.TimeoutExpired:
        return Result("unknown", f"not done after {seconds} s", seconds=seconds)
    result = judge(done.stdout + done.stderr, done.returncode)
    result.seconds = time.monotonic() - begin
    if result.verdict == "refuted":
        result.reason = name_of_assertion(search, folder) or result.reason
    elif search.must_reach_all and result.verdict == "complete" and result.unreached:
        result.verdict = "unknown"
        result.reason = f"never got to {', '.join(result.unreached)}"
    return result


def can_be_breadth_first(search):
    return "-DSAFETY" in PROPERTIES[search.property].compile


def number(pattern, text):
    found = re.search(pattern, text)
    return int(float(found[1])) if found else 0


def judge(text, status):
    """What the output of a search says. Nothing but a full search without errors is complete."""
    result = Result(
        "unknown",
        "",
        states=number(r"([\d.e+]+) states, stored", text),
        depth=number(r"depth reached (\d+)", text),
        unreached=tuple(sorted(set(re.findall(r"(?<![\w])word\.pml:\d+", unreached_part(text))))),
    )
    errors = re.search(r"errors: (\d+)", text)
    if errors and int(errors[1]) > 0:
        result.verdict, result.reason = "refuted", reason_of(text)
    elif cut := [words for words in CUT_SHORT if words in text]:
        result.reason = cut[0]
    elif status < 0:
        result.reason = f"ended by signal {-status}"
    elif not errors or "Full statespace search" not in text or status != 0 or not result.states:
        result.reason = f"not understood: {text[-500:]}"
    else:
        result.verdict = "complete"
    return result


def unreached_part(text):
    return text.partition("unreached in proctype")[2]


def reason_of(text):
    found = re.search(r"pan:\d+: (.*?) \(at depth", text)
    what = found[1] if found else "?"
    return re.sub(r"^assertion violated ", "", what)


def name_of_assertion(search, folder):
    """As it is spelled in the source: spin says it with all macros expanded."""
    command = trace_command(search, folder)
    said = command and re.search(
        r"(\w+\.pml):(\d+), Error: assertion violated", call(command, folder).stdout
    )
    if not said:
        return None
    line = (HERE / said[1]).read_text().splitlines()[int(said[2]) - 1]
    spelled = re.search(r"assert\((.*?)\)(;| :|$)", line)
    return spelled and spelled[1]


def trace_command(search, folder):
    trail = next(iter(pathlib.Path(folder).glob("*.trail")), None)
    return trail and ["spin", "-t", "-k", str(trail), "-p", "-g", *search.macros, str(MODEL)]


STEP = re.compile(r"\s*\d+:\s+proc\s+(\d+) \(user.*?\) \S*?(\w+\.pml:\d+) \(state \d+\)\s+\[(.*)\]")


def trace(search, folder):
    """The steps of the trail, a source line each: who, where, what, and the word where it changed."""
    command = trace_command(search, folder)
    if not command:
        return ["(spin left no trail)"]
    sources = {path.name: path.read_text().splitlines() for path in HERE.glob("*.pml")}
    notes = next(i for i, line in enumerate(sources[MODEL.name], 1) if line.startswith("active"))
    lines, last, last_word = [], None, None
    for line in call(command, folder).stdout.splitlines():
        if "START OF CYCLE" in line:
            lines.append("  from here on for ever:")
        elif step := STEP.match(line):
            name, place = step[2].split(":")
            at = (step[1], step[2])
            if at != last and not (name == MODEL.name and int(place) < notes):
                lines.append(f"  user {step[1]}  {step[2]:19} {sources[name][int(place) - 1].strip()}")
                last = at
        elif (word := re.match(r"\s+word = (\d+)", line)) and lines and word[1] != last_word:
            lines.append(f"{'':31}the word: {fields(int(word[1]))}")
            last_word = word[1]
    return lines


def fields(word):
    text = f"{word & 7} owners, {word >> 4 & 7} copies"
    return text + (", waiting" if word & 8 else "") + (", read-only" if word & 128 else "")
