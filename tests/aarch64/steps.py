# SPDX-License-Identifier: BSL-1.0
"""The share word's steps on 64-bit Arm with LSE, the atomics of Armv8.1: one instruction each, of the order that
is spelled and none that is stronger: steps.py SOURCE INCLUDE...

Compiled by each compiler for that machine that there is; skipped where there is none. What runs on x86-64 or
under qemu cannot show it: there every step is as strong as the strongest."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, *INCLUDES = sys.argv[1:]
GCC = "aarch64-linux-gnu-g++"
SKIPPED = 77

# What the functions of SOURCE have of atomic instructions, each once or more. ldapr is as good as ldar.
STEPS = {
    "add_owner": {"ldadd"},
    "drop_owner": {"ldar", "ldaddal"},
    "is_writable": {"ldar"},
    "is_unique": {"ldar"},
    "use_count": set(),
    "claim_never_to_wait": {"ldar", "cas"},
    "finish_copy": {"ldaddal"},
    "abandon_copy": {"ldadd"},
}
ONCE = ("ldadd", "ldaddal", "cas")
ATOMIC = re.compile(r"\s+((?:ldadd|ldclr|ldset|ldeor|swp|cas|ldar|ldapr|stlr|ldaxr|ldxr|stxr|stlxr|dmb)[a-z]*)\s|"
                    r"\s+bl\s+(__aarch64_\w+|__atomic_\w+)")


def compilers():
    if shutil.which(GCC):  # clang takes its headers
        yield [GCC]
        if shutil.which("clang++"):
            yield ["clang++", "--target=aarch64-linux-gnu"]


def atomics_of(compiler, *first_includes):
    """The atomic instructions of each function."""
    flags = ["-std=c++20", "-O2", "-march=armv8.1-a", "-S", "-o", "-"]
    includes = [f"-I{folder}" for folder in (*first_includes, *INCLUDES)]
    assembly = subprocess.run([*compiler, *flags, *includes, SOURCE], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
    found, function = {}, None
    for line in assembly.splitlines():
        if label := re.match(r"(\w+):", line):
            function = found.setdefault(label[1], [])
        elif function is not None and (atomic := ATOMIC.match(line)):
            function.append((atomic[1] or atomic[2]).replace("ldapr", "ldar"))
    return found


def wrong_steps(found):
    """Those whose instructions are others, or more of those that there is to be one of."""
    return {step for step, expected in STEPS.items()
            if set(found[step]) != expected or any(found[step].count(one) > 1 for one in ONCE)}


class Steps(unittest.TestCase):
    def test_are_the_one_instruction_of_the_order_that_is_spelled(self):
        for compiler in compilers():
            found = atomics_of(compiler)
            self.assertEqual(wrong_steps(found), set(), {step: found[step] for step in STEPS})

    def test_of_another_order_are_found(self):
        """As relaxed what acquires or releases is wrong, as seq_cst what is relaxed: together every step."""
        header = "byre/sync/detail/site.hpp"
        right, text = "return {&site, order};", (pathlib.Path(INCLUDES[0]) / header).read_text()
        self.assertEqual(text.count(right), 1)
        wrong = set()
        for order in "relaxed", "seq_cst":
            with tempfile.TemporaryDirectory() as folder:
                changed = pathlib.Path(folder) / header
                changed.parent.mkdir(parents=True)
                changed.write_text(text.replace(right, f"return {{&site, std::memory_order::{order}}};"))
                wrong |= wrong_steps(atomics_of([GCC], folder))
        self.assertEqual(wrong, set(STEPS))


if not shutil.which(GCC):
    print(f"there is no {GCC}: apt-get install g++-aarch64-linux-gnu")
    sys.exit(SKIPPED)
unittest.main(argv=sys.argv[:1])
