# SPDX-License-Identifier: BSL-1.0
"""docs/answers.md names each test of a complaint once, none that there is not, and links to what it cites:
answers.py ROOT"""
import collections
import pathlib
import re
import sys

# The names of tests, as the table has them.
IN_CPP = re.compile(r"^TEST\(\w+,\s*(\w+)\)", re.MULTILINE)
IN_PYTHON = re.compile(r"^def (test_\w+)\(", re.MULTILINE)


def tests(root):
    """The names of the tests that there are."""
    for source in sorted((root / "tests" / "complaints").glob("*_test.cpp")):
        yield from IN_CPP.findall(source.read_text())
    yield from IN_PYTHON.findall((root / "python" / "tests" / "test_complaints.py").read_text())


def rows(table):
    """The cells of each row, less the head."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def problems(root):
    there = collections.Counter(tests(root))
    if len(there) < 20:
        yield f"{len(there)} tests were found in the sources; there are more"
    yield from (f"two tests have the name {name}" for name, times in there.items() if times > 1)

    named = collections.Counter()
    for row in rows((root / "docs" / "answers.md").read_text()):
        if len(row) != 4:
            yield f"a row has {len(row)} cells: {row[0]}"
            continue
        complaint, _, where, last = row
        of_row = re.findall(r"`(\w+)`", last)
        named.update(of_row)
        cited = re.findall(r"\[([\w.-]+)#(\d+)\]\(https://github\.com/[\w.-]+/([\w.-]+)/(?:issues|pull)/(\d+)\)", where)
        if not of_row or not cited or len(cited) != where.count("["):
            yield f"a row lacks a test, or a link to a thread of GitHub: {complaint}"
        for repository, number, linked_repository, linked_number in cited:
            if (repository, number) != (linked_repository, linked_number):
                yield f"{repository}#{number} links to {linked_repository}#{linked_number}"
    yield from (f"no test has the name {name}" for name in named if name not in there)
    yield from (f"no row has the test {name}" for name in there if name not in named)
    yield from (f"more than one row has the test {name}" for name, times in named.items() if times > 1)


def main(root):
    found = list(problems(pathlib.Path(root)))
    for problem in found:
        print(f"docs/answers.md: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
