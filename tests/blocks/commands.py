# SPDX-License-Identifier: BSL-1.0
"""Whether the commands of a document are those that there are: programs and scripts, their options, targets, suites,
tests, packages and environment variables. A program that was built is asked; of others the source is read."""
import functools
import pathlib
import re
import shlex
import subprocess

VARIABLE = r"\bBYRE_[A-Z_]+\b"
# What the documents say was removed.
REMOVED = {"BYRE_RESHAPE_BACKTRACE"}
# What is neither byre's nor asked for more than its name.
OTHERS = {"awk", "cut", "grep", "objdump", "pip"}
# Programs, and where their options are declared. `./dev WHAT` may hand arguments on to one.
SOURCES = {
    "byre-stress": "stress/options.cpp",
    "byre-verify": "verification/runner/options.cpp",
    "bench": "bench/report.py",
    "demo": "examples/live_checkpoint/options.cpp",
    "stress": "stress/options.cpp",
    "verify": "verification/runner/options.cpp",
}
MESON_TEST = {"test", "deep", "release", "tsan", "asan"}  # what hands arguments on to `meson test`


def run(*command, **settings):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **settings)


class Commands:
    def __init__(self, root, programs=()):
        self.root = pathlib.Path(root).resolve()
        self.programs = {pathlib.Path(program).name: program for program in programs}

    @functools.cached_property
    def dev(self):
        return run(self.root / "dev", "help").stdout

    @functools.cached_property
    def meson_files(self):
        return "\n".join(path.read_text() for path in self.root.glob("**/meson.build")
                         if "build" not in path.relative_to(self.root).parts[0])

    @functools.cached_property
    def sources(self):
        """All text that may read an environment variable or declare an option of a build."""
        folders = ("core", "examples", "python", "stress", "tests", "verification", "bench")
        files = [self.root / name for name in ("dev", "CMakeLists.txt", "meson_options.txt")]
        for folder in folders:
            files += [path for path in (self.root / folder).glob("**/*")
                      if (path.suffix in {".cpp", ".hpp", ".in", ".py"} or path.name == "meson.build")
                      and path.parent != self.root / "tests/blocks"]
        return "\n".join(path.read_text() for path in files)

    @functools.cached_property
    def variables(self):
        return set(re.findall(VARIABLE, self.sources))

    @functools.lru_cache(maxsize=None)
    def options_text(self, program):
        """A text that names the options of a program, a script or a `./dev WHAT`."""
        name = {"stress": "byre-stress", "verify": "byre-verify"}.get(program, program)
        if name in self.programs:
            return run(self.programs[name], "--help").stdout + run(self.programs[name], "--list").stdout
        if program in SOURCES:
            return (self.root / SOURCES[program]).read_text() + (self.dev if program in self.dev else "")
        if program in MESON_TEST or program == "meson test":
            return run("meson", "test", "--help").stdout
        if (self.root / program).is_file():
            return (self.root / program).read_text()
        return self.dev

    def complaints(self, text):
        """What is wrong with a block of commands."""
        if (parsed := run("bash", "-n", input=text)).returncode != 0:
            yield parsed.stderr.strip()
            return
        for words in commands_of(text):
            yield from self.complaints_of_command(words)

    def complaints_of_command(self, words):
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            yield from self.unknown_variables(words.pop(0))
        if not words:
            return
        program, arguments = words[0], words[1:]
        name = pathlib.Path(program).name
        if program == "./dev":
            yield from self.complaints_of_dev(arguments)
        elif program == "meson":
            yield from self.complaints_of_meson(arguments)
        elif name in ("python3", "pip") and arguments:
            if arguments[0].endswith(".py"):
                yield from self.complaints_of_file(arguments[0], arguments[1:])
        elif program == "apt-get":
            for package in arguments[1:]:
                if not re.search(rf"(?<![\w-]){re.escape(package)}(?![\w-])", (self.root / "dev").read_text()):
                    yield f"./dev never installs the package {package}"
        elif name in SOURCES or name in self.programs:
            yield from self.complaints_of_built(program)
            yield from self.unknown_options(name, arguments)
        elif re.match(r"build[\w-]*/", program):
            yield from self.complaints_of_built(program)
        elif "/" in program:
            yield from self.complaints_of_file(program, arguments)
        elif program not in OTHERS:
            yield f"no test knows the command {program}"

    def complaints_of_dev(self, arguments):
        what, rest = (arguments + ["help"])[0], arguments[1:]
        if not re.search(rf"^  {re.escape(what)}\b", self.dev, re.M):
            yield f"./dev help has no {what}"
            return
        if what == "python":
            return  # a program of the reader's, and its arguments
        if what == "build":
            for target in rest:
                yield from self.complaints_of_built(f"build/{target}")
        if what == "fuzz" and rest and not rest[0].startswith("-"):
            if not (self.root / "stress/fuzz/corpus" / rest[0]).is_dir():
                yield f"there is no fuzz target {rest[0]}"
        if what == "cross" and rest and rest[0] != "all":
            if not (self.root / "tests/cross" / f"{rest[0]}.ini").is_file():
                yield f"there is no machine {rest[0]} to cross-compile for"
        if what in MESON_TEST:
            yield from self.unknown_tests(rest)
        yield from self.unknown_options(what, rest)

    def complaints_of_meson(self, arguments):
        what = (arguments + [""])[0]
        if what == "test":
            yield from self.unknown_tests(arguments[1:])
            yield from self.unknown_options("meson test", arguments[1:])
        elif what in ("setup", "install", "compile"):
            for option in arguments[1:]:
                if (found := re.match(r"-D(?:byre:)?(\w+)=", option)) and \
                        not re.search(rf"option\('{found[1]}'", self.sources):
                    yield f"meson_options.txt has no {found[1]}"
        else:
            yield f"no test knows the command meson {what}"

    def unknown_tests(self, arguments):
        """Suites and tests that no file of Meson's names."""
        values = iter(arguments)
        for word in values:
            if word == "-C":
                next(values, None)
            elif word in ("--suite", "--no-suite"):
                word = next(values, "")
                if not re.search(rf"suite.*'{re.escape(word)}'", self.meson_files):
                    yield f"there is no suite {word}"
            elif not word.startswith("-") and f"'{word}'" not in self.meson_files:
                yield f"there is no test {word}"

    def unknown_options(self, program, arguments):
        text = self.options_text(program)
        values = iter(arguments)
        for word in values:
            if not (found := re.match(r"-{1,2}([A-Za-z][\w-]*)", word)):
                continue
            if not re.search(rf"(?:--?|\")({re.escape(found[1])})(?![\w-])", text):
                yield f"{program} has no option {found[0]}"
            elif found[1] == "workload" and (name := next(values, "")) not in self.options_text("byre-stress") and \
                    name not in self.sources:
                yield f"{program} has no workload {name}"

    def complaints_of_built(self, program):
        folder, name = re.match(r"(?:build[\w-]*/)?(.*?)/?([^/]*)$", program).groups()
        if folder == "stress/fuzz" and name.startswith("fuzz_"):
            if not (self.root / "stress/fuzz/corpus" / name[len("fuzz_"):]).is_dir():
                yield f"there is no fuzz target {name}"
            return
        files = [self.root / folder / "meson.build"] if folder else []
        text = "\n".join(file.read_text() for file in files if file.is_file()) if files else self.meson_files
        if f"'{name}'" not in text:
            yield f"nothing builds {program}"

    def complaints_of_file(self, file, arguments):
        if not (self.root / file).is_file():
            yield f"there is no {file}"
        else:
            yield from self.unknown_options(file, arguments)

    def unknown_variables(self, text):
        for name in sorted(set(re.findall(VARIABLE, text)) - self.variables - REMOVED):
            yield f"nothing reads {name}"


def commands_of(text):
    """The commands of a block, each a list of words, without comments."""
    lines = re.sub(r"(?m)(^|\s+)#\s.*$", "", text).replace("\\\n", " ")
    lexer = shlex.shlex(lines, posix=True, punctuation_chars="|;&\n")
    lexer.whitespace = " \t"
    lexer.commenters = ""
    command = []
    for word in lexer:
        if set(word) <= set("|;&\n"):
            if command:
                yield command
            command = []
        elif word := word.strip("[]"):  # of what may be left out
            command.append(word)
    if command:
        yield command
