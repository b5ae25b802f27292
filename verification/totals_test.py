# SPDX-License-Identifier: BSL-1.0
"""Checks that the table of totals in docs/verification.md has the rows that byre-verify prints, and that its tables of
scenarios have their bounds and executions, so that a search cannot shrink unnoticed. Also checks that each promise and
each invariant is shown by some scenario.

usage: totals_test.py BYRE_VERIFY DOCUMENT
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

COUNTS = {"promise ": 9, "I": 7, "G": 5, "S": 4, "B": 3, "C": 2, "V": 2}
CLAIMS = {f"{kind}{number}" for kind, most in COUNTS.items() for number in range(1, most + 1)}


def claims_in(shows):
    named = set(re.findall(r"\b[BCGISV]\d\b", shows))
    for numbers in re.findall(r"promises? (\d(?:(?:, | and | to )\d)*)", shows):
        named |= {f"promise {number}" for number in re.findall(r"\d", numbers)}
    return named


def unshown(binary):
    listed = subprocess.run([binary, "--list"], check=True, capture_output=True, text=True).stdout
    shown = set()
    for name, verdict, shows in re.findall(r"^(\S+): .*, (\w[\w ]*)\n  (.*)$", listed, re.MULTILINE):
        if verdict == "pass" and not name.startswith(("litmus.", "programs.", "reference.")):
            shown |= claims_in(shows)
    return sorted(CLAIMS - shown)


def outdated(lines, searches):
    """Describes table rows `scenario`, ..., bound, executions that differ from the searches, and wrong sums of them."""
    found = {each["scenario"]: [str(each["bound"]), f"{each['executions']:,}"]
             for each in searches if each["mutant"] == "none"}
    faults = []
    total = 0
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            total = 0
        elif not re.fullmatch(r"[\d,]+", cells[-1]):
            continue
        elif name := re.fullmatch(r"`(\w+)`", cells[0]):
            total += int(cells[-1].replace(",", ""))
            if name[1] not in found:
                faults.append(f"{line} names no scenario")
            elif cells[-2:] != found[name[1]]:
                faults.append(f"{line} must end with {' | '.join(found[name[1]])}")
        elif cells[0] == "in all" and total and cells[-1] != f"{total:,}":
            faults.append(f"{line} must end with {total:,}")
    return faults


def main(binary, document):
    missing = unshown(binary)
    with tempfile.TemporaryDirectory() as folder:
        figures = pathlib.Path(folder) / "figures.json"
        ended = subprocess.run([binary, "--json", figures], capture_output=True, text=True, check=False)
        searches = json.loads(figures.read_text())
    print(ended.stdout)
    rows = [line for line in ended.stdout.splitlines() if line.startswith("| ")]
    written = pathlib.Path(document).read_text().splitlines()
    faults = [f"{document} lacks the row {row}. Update its table." for row in rows if row not in written]
    faults += [f"{document}: the row {fault}" for fault in outdated(written, searches)]
    faults += [f"no scenario shows {claim}" for claim in missing]
    print(*faults, sep="\n")
    return ended.returncode or bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
