# SPDX-License-Identifier: BSL-1.0
"""Checks each step of core that has mutants: the comment at the step has to name a scenario, and each scenario that
the comment names has to kill a mutant of the step.

usage: arguments_test.py BYRE_VERIFY
"""
import pathlib
import re
import subprocess
import sys

CORE = pathlib.Path(__file__).resolve().parents[2] / "core/byre"
STEP = re.compile(r"(?:sites|\w+_sites)\.at\((?:At|\w+Site)::(\w+)")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def rows_of(binary):
    """The order and the mutants of each step."""
    rows = {}
    for line in output_of(binary, "--explain").split("\n\n")[0].splitlines()[1:]:
        name, _, order, mutants = re.match(r"(\S+) +(\S+) +(its own|\S+) +(.*)", line).groups()
        rows[name] = (order, [] if mutants == "none" else mutants.split(", "))
    return rows


def comments_of(type_name):
    """The comments above each step of the type, in the files that name the type's table of sites."""
    comments = {}
    for path in sorted(CORE.rglob("*.hpp")):
        text = path.read_text()
        if f"{type_name}_sites" not in text:
            continue
        lines = text.splitlines()
        for number, line in enumerate(lines):
            for step in STEP.findall(line):
                begin = number
                while begin and not lines[begin - 1].strip().startswith("//") and number - begin < 3:
                    begin -= 1
                above = []
                while begin and lines[begin - 1].strip().startswith("//"):
                    begin -= 1
                    above.append(lines[begin].strip(" /"))
                comments[step] = comments.get(step, "") + " ".join(reversed(above)) + " "
    return comments


def kills_a_mutant(binary, scenario, step, mutants):
    # `mutants` begins with the weaker orders. The comments argue about these, so they are tried first.
    return any(subprocess.run([binary, "--scenario", scenario, "--mutant", f"{step}:{mutant}"],
                              capture_output=True, check=False).returncode == 0 for mutant in mutants)


def main(binary):
    scenarios = set(re.findall(r"^(\w+): ", output_of(binary, "--list"), re.MULTILINE))
    rows, faults, pairs = rows_of(binary), [], 0
    comments = {name: comments_of(name) for name in {step.split(".")[0] for step in rows}}
    for step, (order, mutants) in rows.items():
        if not mutants:  # a relaxed load has no mutants
            continue
        comment = comments[step.split(".")[0]].get(step.split(".")[1], "")
        named = sorted(set(re.findall(r"\w+", comment)) & scenarios)
        if not named:
            faults.append(f"the comment at {step} names no scenario")
        for scenario in named:
            pairs += 1
            if not kills_a_mutant(binary, scenario, step, mutants):
                faults.append(f"the comment at {step} names {scenario}, but that scenario kills no mutant of {step}")
    print(*faults, sep="\n")
    print(f"{len(rows)} steps, {pairs} scenarios named in their comments, {len(faults)} wrong")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
