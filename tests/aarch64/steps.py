# SPDX-License-Identifier: BSL-1.0
"""steps.py SOURCE INCLUDE...: compiles the steps of the share word for 64-bit Arm with LSE, the atomics of Armv8.1.
Checks that each step is one instruction, with exactly the memory order that the source spells, and no stronger one.

Uses every compiler for that machine; skipped if there is none. Running the program could not check this: on x86-64 and
under QEMU, every step acts with the strongest order."""
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

# The atomic instructions of each function of SOURCE, which may occur several times. ldapr counts as ldar.
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
    if shutil.which(GCC):  # clang uses the headers of this compiler, too
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
    """The steps with other instructions, or with several instructions of a kind in ONCE."""
    return {step for step, expected in STEPS.items()
            if set(found[step]) != expected or any(found[step].count(one) > 1 for one in ONCE)}


class Steps(unittest.TestCase):
    def test_each_step_is_one_instruction_with_the_spelled_order(self):
        for compiler in compilers():
            found = atomics_of(compiler)
            self.assertEqual(wrong_steps(found), set(), {step: found[step] for step in STEPS})

    def test_a_step_with_a_changed_memory_order_is_found(self):
        """With every order changed to relaxed, and then to seq_cst, each step is wrong at least once."""
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
    print(f"{GCC} not found. Run apt-get install g++-aarch64-linux-gnu.")
    sys.exit(SKIPPED)
unittest.main(argv=sys.argv[:1])
