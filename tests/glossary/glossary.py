# SPDX-License-Identifier: BSL-1.0
"""What docs/glossary.md names exists: glossary.py ROOT"""
import pathlib
import re
import sys


def missing(root):
    """The headers and documents that are named and are not there."""
    glossary = root / "docs" / "glossary.md"
    text = glossary.read_text()
    headers = set(re.findall(r"`([\w/]+\.hpp)`", text))
    if len(headers) < 20:
        yield f"a glossary that names {len(headers)} headers; there are more"
    for header in sorted(headers):
        if not (root / "core" / "byre" / header).is_file():
            yield f"core/byre/{header}"
    for document in sorted(set(re.findall(r"\]\(([\w.-]+\.md)\)", text))):
        if not (glossary.parent / document).is_file():
            yield f"docs/{document}"


def main(root):
    problems = list(missing(pathlib.Path(root)))
    for problem in problems:
        print(f"docs/glossary.md names what is not there: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
