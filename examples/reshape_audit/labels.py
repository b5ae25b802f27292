#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""labels.py OUTPUT.cpp PIPELINES.cpp... : the labels in the pipelines' comments, as C++.

A comment at the end of a line says what the line is in which triples: `// reshaped 1 2`,
`// written 1, then read 2`. Triples are numbered within a function, and have one line for each of
reshaped, written, and then read or then written, and one advice: `view 1`, `clone 1`, `nothing 1`,
`view or clone 1` or `view by mistake 1`. Lines that are `// seen 1` show what became of an
access that shows nothing at its own line.
"""
import pathlib
import re
import sys

FUNCTION = re.compile(r"^void (\w+)\(Journal& \w+\) \{$")
COMMENT = re.compile(r"[^\s/]\s*// ((?:reshaped|written|then (?:read|written)|seen)\b.*)$")
PART = re.compile(r"(reshaped|written|then read|then written|seen|view|view by mistake|view or clone|clone|"
                  r"nothing)"
                  r"((?: \d+)+)")
ADVICE = {"view": "view, false", "view by mistake": "view, true",
          "view or clone": "view_or_clone, false", "clone": "reshape_and_clone, false",
          "nothing": "nothing, false"}


def parts_of(comment, where):
    for part in comment.split(", "):
        if not (found := PART.fullmatch(part)):
            sys.exit(f"{where}: '{part}' is no label: see {__file__}")
        for number in found[2].split():
            yield found[1].removesuffix(" read").removesuffix(" written"), number, found[1]


def triples_of(path):
    """{(function, number): {"reshaped": line, "written": line, "then": line, "writes": bool,
    "seen": [line...]}}"""
    triples, function = {}, None
    for line, text in enumerate(path.read_text().splitlines(), 1):
        where = f"{path}:{line}"
        if text == "}":
            function = None
        if found := FUNCTION.match(text):
            function = found[1]
        if not (found := COMMENT.search(text)):
            continue
        if function is None or function.endswith("_rewritten"):
            sys.exit(f"{where}: a label outside a pipeline")
        for role, number, words in parts_of(found[1], where):
            triple = triples.setdefault((function, number), {"seen": []})
            if role == "seen":
                triple["seen"].append(line)
                continue
            if role in ADVICE:
                if triple.setdefault("advice", role) != role:
                    sys.exit(f"{where}: triple {number} of {function} is advised twice")
                continue
            if role in triple:
                sys.exit(f"{where}: triple {number} of {function} is {role} twice")
            triple[role] = line
            if role == "then":
                triple["writes"] = words == "then written"
    for (function, number), triple in triples.items():
        if missing := {"reshaped", "written", "then", "advice"} - triple.keys():
            sys.exit(f"{path}: triple {number} of {function} lacks {', '.join(sorted(missing))}")
    return triples


def main(output, *sources):
    lines = []
    for path in map(pathlib.Path, sources):
        for (function, _), triple in triples_of(path).items():
            numbers = ", ".join(str(triple[role]) for role in ("reshaped", "written", "then"))
            seen = ", ".join(map(str, triple["seen"]))
            lines.append(f'      {{"{function}", "{path.name}", {numbers}, '
                         f'{str(triple["writes"]).lower()}, '
                         f'Advice::{ADVICE[triple["advice"]]}, {{{seen}}}}},\n')
    pathlib.Path(output).write_text(
        '#include "label.hpp"\n\n'
        "using byre::shadow::Advice;\n\n"
        "std::vector<examples::reshape_audit::Label> examples::reshape_audit::all_labels() {\n"
        "  return {\n" + "".join(lines) + "  };\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
