# SPDX-License-Identifier: BSL-1.0
"""docs/api.md, one line for each API header, from what the headers say first: api_list.py [--update] ROOT"""
import pathlib
import re
import sys

import layout

LIBRARIES = {
    "byre": ["byre.hpp", "error", "system", "sync", "stats", "memory", "cow", "storage", "trace"],
    "byre-tensor": ["tensor.hpp", "shadow", "tensor", "interop"],
    "byre-functional": ["functional.hpp", "functional"],
}
BEGIN = """# The API headers

What each library offers, header by header; `detail/` and the namespace `detail` are not API. This list is
printed from the headers' first sentences: `python3 tests/layout/api_list.py --update .` writes it anew.
"""


def first_sentence(header):
    comment = []
    for line in header.read_text().splitlines()[1:]:
        if not line.startswith("///"):
            break
        comment.append(line.removeprefix("///").strip())
    return re.split(r"(?<=\.)\s", " ".join(comment), maxsplit=1)[0].rstrip(".:") + "."


def document(root):
    core = root / "core/byre"
    listed = sorted(layout.headers_listed(root, "byre_api_headers"))
    lines = [BEGIN]
    for library, rooms in LIBRARIES.items():
        lines.append(f"## {library}\n")
        for room in rooms:
            for name in listed:
                if name == room or name.startswith(room + "/"):
                    lines.append(f"- [`<byre/{name}>`](../core/byre/{name}): {first_sentence(core / name)}")
        lines.append("")
    listed_twice_or_not = [name for name in listed if sum(f"<byre/{name}>" in line for line in lines) != 1]
    if listed_twice_or_not:
        sys.exit(f"{', '.join(listed_twice_or_not)}: add the room to LIBRARIES in {__file__}")
    return "\n".join(lines)


def main(*given):
    update = given[0] == "--update"
    root = pathlib.Path(given[-1])
    wanted, path = document(root), root / "docs/api.md"
    if update:
        path.write_text(wanted)
    elif not path.exists() or path.read_text() != wanted:
        print(f"{path} is not what the headers say; python3 {sys.argv[0]} --update {root}")
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
