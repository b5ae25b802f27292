# SPDX-License-Identifier: BSL-1.0
"""What docs/glossary.md names exists, and no table says a term twice: glossary.py ROOT"""
import collections
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


def said_twice(root):
    """The first cells of rows, where two of a section are the same."""
    for section in re.split(r"^## ", (root / "docs" / "glossary.md").read_text(), flags=re.MULTILINE):
        terms = collections.Counter(re.findall(r"^\| ([^|]+) \|", section, flags=re.MULTILINE))
        yield from (term for term, times in terms.items() if times > 1)


def main(root):
    root = pathlib.Path(root)
    problems = [f"what is not there: {name}" for name in missing(root)]
    problems += [f"a term twice: {term}" for term in said_twice(root)]
    for problem in problems:
        print(f"docs/glossary.md names {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
