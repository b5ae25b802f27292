# SPDX-License-Identifier: BSL-1.0
"""The drawings of the share word say what its header says: drawings.py ROOT"""
import itertools
import pathlib
import re
import sys
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def elements(path, attribute):
    return [element for element in ElementTree.parse(path).iter() if element.get(attribute) is not None]


def texts(element):
    return [text.text for text in element.iter(SVG + "text")]


def fields_of(header):
    """The fields by the comment at the beginning, as (high, low)."""
    found = {}
    for low, high, name in re.findall(r"^/// +bits? +(\d+)(?:-(\d+))? +(\w+) ", header, re.M):
        found[name] = (int(high or low), int(low))
    return found


def constants_of(sites):
    """The bit that each power of two of the table is."""
    return {name: int(bit) for name, bit in
            re.findall(r'"share_word\.(\w+)", std::uint64_t\{1\} << (\d+)', sites)}


def word(root, header):
    fields = fields_of(header)
    bits = constants_of((root / "core/byre/cow/detail/share_word_sites.hpp").read_text())
    for name, bit in {"waiting": bits["waiting_bit"], "copies": bits["one_copy"],
                      "read_only": bits["read_only_bit"]}.items():
        if fields[name][1] != bit:
            yield f"the header's comment has {name} at bit {fields[name][1]}, and its constant at {bit}"
    drawn = {}
    for field in elements(root / "docs/figures/share_word.svg", "data-field"):
        high, low = int(field.get("data-high")), int(field.get("data-low"))
        drawn[field.get("data-field")] = (high, low)
        bits = str(high) if high == low else f"{high} to {low}"
        name = field.get("data-field").replace("_", "-")
        if texts(field)[:2] != [bits, name]:
            yield f"a field is drawn as {texts(field)[:2]}, and is {name}, bits {bits}"
    if drawn != fields:
        yield f"drawn are {drawn}, and the header has {fields}"


def steps_of(header):
    """By the table of the comment, (operation, condition, change of owners, change of copies)."""
    table = header[header.index("///   operation "):header.index("/// I1")]
    name, changes = None, []
    for line in table.splitlines():
        name = (re.match(r"///   (\w+)\b(?!,)", line) or [None, name])[1]
        if re.search(r"(owners|copies)[+-]1|as owners>=2", line):
            by = 1 if re.search(r"as owners>=2", line) else 0
            owners = re.search(r"owners([+-]1)", line)
            copies = re.search(r"copies([+-]1)", line)
            changes.append((name, "never to wait" in line, int(owners[1]) if owners else -by,
                            int(copies[1]) if copies else by))
    return changes


def may(name, never_waits, owners, copies):
    """Whether somebody is there to take the step."""
    if name in ("finish_copy", "abandon_copy", "add_copy"):
        return copies > 0
    if name == "claim":
        return owners == 1 and copies > 0 if never_waits else owners >= 2
    return owners > 0


def box(owners, copies):
    return f"{min(owners, 2)} {min(copies, 1)}"


def steps(root, header):
    changes = steps_of(header)
    names = {name for name, *_ in changes}
    if names != {"add_owner", "drop_owner", "claim", "finish_copy", "abandon_copy", "add_copy"}:
        yield f"the header's table has the steps {sorted(names)}"
    wanted = {}
    for (name, never_waits, by_owners, by_copies), owners, copies in itertools.product(changes, range(5), range(5)):
        if may(name, never_waits, owners, copies):
            between = (box(owners, copies), box(owners + by_owners, copies + by_copies))
            if between[0] != between[1]:
                wanted.setdefault(between, set()).add(name)
    path = root / "docs/figures/share_word_steps.svg"
    drawn = {}
    for step in elements(path, "data-steps"):
        drawn[step.get("data-from"), step.get("data-to")] = set(step.get("data-steps").split())
        if {text.split(",")[0] for text in texts(step)} != set(step.get("data-steps").split()):
            yield f"an arrow is labelled {texts(step)}, and is for {step.get('data-steps')}"
    for between in sorted(wanted.keys() | drawn.keys()):
        if wanted.get(between) != drawn.get(between):
            yield f"from {between[0]} to {between[1]} lead {wanted.get(between)}; drawn are {drawn.get(between)}"
    boxes = {state.get("data-state") for state in elements(path, "data-state")}
    if boxes != {box(owners, copies) for owners in range(3) for copies in range(2)}:
        yield f"drawn are the states {sorted(boxes)}"


def main(root):
    root = pathlib.Path(root)
    header = (root / "core/byre/cow/share_word.hpp").read_text()
    complaints = [*word(root, header), *steps(root, header)]
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
