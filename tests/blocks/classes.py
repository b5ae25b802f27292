# SPDX-License-Identifier: BSL-1.0
"""Whether each block of code in the documents is of a kind that is checked, and passes: classes.py ROOT [PROGRAM...]

What C++ does is checked by fragments.py, what sessions in Python print by python/tests/test_readme.py. The rest is
checked here. The programs are those whose options commands may have; of others the sources are read.
"""
import json
import pathlib
import re
import sys

import blocks
from commands import Commands

# What a text may be that no program can print again.
KINDS = {
    "a drawing",
    "measured",  # what one machine printed
    "sample output",  # of a run that fails, or differs each time
}
# Which test takes all blocks of a language, of the README alone.
TAKEN_BY = {
    "cmake": "tests/embedding/cmake.py",
    "ini": "tests/embedding/embed.py",
    "meson": "tests/embedding/embed.py",
}
LANGUAGES = {"cpp", "json", "pycon", "python", "sh", "text", *TAKEN_BY}


class Checker:
    def __init__(self, root, programs=()):
        self.root = pathlib.Path(root)
        self.commands = Commands(root, programs)
        self.counts = {}

    def complaints(self, block):
        if block.language == "indented":
            yield "is indented: put it between fences, with its language"
        elif block.language == "":
            yield "has no language: text, if it is neither code nor commands"
        elif block.language not in LANGUAGES:
            yield f"no test knows how to check {block.language}; there are {', '.join(sorted(LANGUAGES))}"
        else:
            self.counts[block.language] = self.counts.get(block.language, 0) + 1
            yield from self.wrong_comments(block)
            if said := block.said("stands in"):
                yield from self.does_not_stand_in(block, said.text)
            check = getattr(self, "complaints_of_" + block.language, self.complaints_of_taken)
            yield from check(block)

    @staticmethod
    def wrong_comments(block):
        allowed = {"cpp": {"with", "check", "stands in"}, "text": {"", "check", "stands in"}}
        for comment in block.comments:
            if comment.name not in allowed.get(block.language, set()):
                yield f"{block.language} takes no comment as <!-- {comment.name or comment.text} -->"
            elif comment.name == "" and comment.text not in KINDS:
                yield f"<!-- {comment.text} --> is no kind of text; there are {', '.join(sorted(KINDS))}"

    def does_not_stand_in(self, block, name):
        """A file that Meson or a test names, and in it the lines. "..." is what the block leaves out."""
        if not (self.root / name).is_file():
            yield f"there is no {name}"
            return
        tests = self.commands.meson_files + "".join(path.read_text() for path in self.root.glob("tests/*/*.py")
                                                    if path.parent.name != "blocks")
        if pathlib.Path(name).name not in tests:
            yield f"no test has {name}"
        parts = [r"\s+".join(map(re.escape, part.split())) for part in block.text.split("...")]
        if not re.search(r"\s*(?:.|\n)*?\s*".join(parts), (self.root / name).read_text()):
            yield f"does not stand in {name}"

    def complaints_of_cpp(self, block):
        return ()  # fragments.py has it

    def complaints_of_text(self, block):
        after_program = block.follows is not None and block.follows.is_program
        if len(block.comments) + after_program != 1:
            yield ("is the output of no program before it. Say what it is by one comment before it: check, stands in, "
                   f"or one of {', '.join(sorted(KINDS))}")
        elif block.said("check") and not re.search(r"\btext\b", block.said("check").text):
            yield "has a check that does not look at `text`"

    def complaints_of_python(self, block):
        if not block.text.startswith(">>> "):
            yield "is no session: begin with >>>, so that python/tests/test_readme.py runs it"

    complaints_of_pycon = complaints_of_python

    def complaints_of_sh(self, block):
        return self.commands.complaints(block.text)

    def complaints_of_json(self, block):
        try:
            value = json.loads(block.text)
        except json.JSONDecodeError as error:
            yield f"is no JSON: {error}"
            return
        for key in sorted(keys_of(value)):
            if not re.search(rf"\\?\"{re.escape(key)}\\?\"", self.commands.sources):
                yield f"no program writes the key {key}"

    def complaints_of_taken(self, block):
        if block.page != "README.md":
            yield f"{TAKEN_BY[block.language]} takes {block.language} of README.md alone"
        version = "v" + (self.root / "VERSION").read_text().strip()
        for said in re.findall(r"\bv\d+\.\d+\.\d+", block.text):
            if said != version:
                yield f"takes {said}, and this is {version}"


def keys_of(value):
    if isinstance(value, dict):
        return set(value) | {key for each in value.values() for key in keys_of(each)}
    return {key for each in value for key in keys_of(each)} if isinstance(value, list) else set()


def complaints_of_prose(page, root, commands):
    """What a page says between its blocks: `./dev WHAT`, and the environment."""
    name = page.relative_to(root).as_posix()
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for span in re.findall(r"`(\./dev [^`]*)`", line):
            yield from (f"{name}:{number}: {said}" for said in commands.complaints(span))
        yield from (f"{name}:{number}: {said}" for said in commands.unknown_variables(line))


def main(root, *programs):
    root = pathlib.Path(root).resolve()
    checker = Checker(root, programs)
    problems = []
    for page in blocks.pages(root):
        problems += complaints_of_prose(page, root, checker.commands)
    for block in blocks.all_blocks(root):
        problems += [f"{block.place}: {said}" for said in checker.complaints(block)]
    for problem in dict.fromkeys(problems):
        print(problem)
    print(", ".join(f"{count} {language}" for language, count in sorted(checker.counts.items())))
    return 1 if problems or len(checker.counts) < 5 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
