#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs branching_cache small, checks its figures against a model in sets of tiles, and gives it what it cannot
use. Test names are sentences; no test looks at a time."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import Test, figures_of, run

TOKEN_BYTES = 8 * 2 * 128 * 2  # of one layer
TILE = 16  # tokens: 64 KiB, which the pool recycles
TILE_BYTES = TILE * TOKEN_BYTES
SMALL = ["--layers=1", "--eager-branches=3", "--repeat=2"]
LIVES = 4  # fresh and recycled, twice


class Branch:
    """Its tiles, each known by who has it."""

    def __init__(self, tiles=(), size=0):
        self.tiles, self.size = list(tiles), size
        for tile in self.tiles:
            tile.add(self)

    def branch(self):
        return Branch(self.tiles, self.size)

    def append(self, count):
        """How many tiles it copied, and of how many tokens: those that another branch has too."""
        shared = self.size % TILE
        copies = shared != 0 and len(self.tiles[-1]) > 1
        if copies:
            self.tiles.pop().remove(self)
            self.tiles.append({self})
        self.size += count
        while len(self.tiles) * TILE < self.size:
            self.tiles.append({self})
        return (1, shared) if copies else (0, 0)

    def truncate(self, size):
        self.size = size
        while (len(self.tiles) - 1) * TILE >= size:
            self.tiles.pop().remove(self)


class Life:
    """What has to come of the branches."""

    def __init__(self, prefix_tokens, append, branches):
        prefix = Branch()
        prefix.append(prefix_tokens)
        self.copies = self.tokens_copied = self.not_of_parent = 0
        self.living = []
        for number in range(branches):
            branch = prefix.branch()
            done = [branch.append(append)]
            living = number % 4 != 3
            if number % 4 == 1:
                branch.truncate(prefix_tokens + append // 2)
                done.append(branch.append(TILE // 2))
            elif number % 4 == 2:
                done.append(branch.append(TILE // 2))
                child = branch.branch()
                done += [branch.append(TILE // 2), child.append(TILE // 2)]
                self.living.append(child)
                self.not_of_parent += self.unlike(child, branch)
            if living:
                self.living.append(branch)
                self.tokens_copied += sum(tokens for _, tokens in done)
            self.copies += sum(copies for copies, _ in done)
        self.not_of_prefix = sum(self.unlike(branch, prefix) for branch in self.living)
        self.tiles = len({id(tile) for branch in [prefix, *self.living] for tile in branch.tiles})

    @staticmethod
    def unlike(branch, other):
        own = {id(tile) for tile in branch.tiles} - {id(tile) for tile in other.tiles}
        return len(own)


class AWholeRun(unittest.TestCase):
    def test_every_token_is_read_back_and_right(self):
        for sizes in ((64, 64, 40), (60, 64, 41), (1, 1, 1), (17, 3, 6), (700, 5, 7)):
            figures = self.run_with(*sizes)
            self.assertIs(figures["verified"], True)
            self.assertEqual(figures["faults"], [])
            self.assertEqual([way["tokens_wrong"] for way in figures["ways"]], [0, 0, 0])

    def test_blocks_and_tiles_copy_the_last_tile_for_all_but_one_of_its_writers(self):
        for sizes in ((64, 64, 40), (60, 64, 41), (60, 1, 11), (41, 15, 12)):
            expected = Life(*sizes)
            figures = self.run_with(*sizes)
            _, blocks, tiles = figures["ways"]
            for way in blocks, tiles:
                self.assertEqual(way["living_branches"], len(expected.living))
                self.assertEqual(way["tokens_copied"], expected.tokens_copied)
            self.assertEqual(tiles["tiles_not_of_prefix"], expected.not_of_prefix)
            self.assertEqual(tiles["tiles_not_of_parent"], expected.not_of_parent)
            if figures["counted"]["lazy_clones"] == 0:
                self.skipTest("byre was built without stats")
            self.assertEqual(figures["counted"]["copies"], LIVES * expected.copies)
            self.assertEqual(figures["counted"]["bytes_copied"], LIVES * expected.copies * TILE_BYTES)

    def test_eager_branches_copy_all_that_they_begin_with(self):
        eager, _, _ = self.run_with(60, 64, 8)["ways"]
        self.assertEqual(eager["living_branches"], 4)  # two, and two of one that branched again
        self.assertEqual(eager["tokens_copied"], 3 * 60 + 60 + 64 + TILE // 2)

    def test_tiles_take_the_memory_of_what_is_not_shared_and_give_it_back(self):
        for sizes in ((64, 64, 40), (60, 64, 41)):
            counted = self.run_with(*sizes)["counted"]
            if counted["lazy_clones"] == 0:
                self.skipTest("byre was built without stats")
            self.assertEqual(counted["live_bytes_of_prefix"], 64 * TOKEN_BYTES)
            self.assertEqual(counted["live_bytes_once_changed"], Life(*sizes).tiles * TILE_BYTES)
            self.assertEqual(counted["live_bytes_left"], 64 * TOKEN_BYTES)

    def test_tiles_take_little_beside_the_prefix_and_what_is_appended(self):
        _, _, tiles = figures_of("--layers=8", "--branches=100", "--prefix-tokens=1024", "--append-tokens=16",
                                 "--eager-branches=1", "--repeat=1")["ways"]
        if tiles["resident_bytes"] is None:
            self.skipTest("the system does not say what memory is resident")
        needed = (1024 + 100 * 16) * 8 * TOKEN_BYTES
        self.assertEqual(tiles["resident_bytes"] - tiles["resident_bytes_beside"], needed)
        self.assertLess(tiles["resident_bytes_beside"], needed // 20)

    def test_any_number_of_threads_does_the_same(self):
        once = self.run_with(60, 64, 41, "--threads=1")
        for threads in 3, 64:
            other = self.run_with(60, 64, 41, f"--threads={threads}")
            self.assertEqual(other["counted"], once["counted"])
            self.assertIs(other["verified"], True)

    def test_the_table_says_the_same(self):
        done = run(*SMALL, "--branches=40", "--prefix-tokens=60")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("All 40 branches that are left have their tokens", done.stdout)
        for said in "eager copies", "shared blocks", "byre's tiles", "memory beside", "tokens copied":
            self.assertIn(said, done.stdout)

    def run_with(self, prefix, append, branches, *more):
        return figures_of(*SMALL, f"--prefix-tokens={prefix}", f"--append-tokens={append}",
                          f"--branches={branches}", *more)


class WrongInput(Test):
    def test_numbers_that_make_no_sense_are_refused(self):
        for option, value in (("layers", "0"), ("layers", "257"), ("kv-heads", "0"), ("head-size", "2"),
                              ("head-size", "6"), ("tile-tokens", "0"), ("tile-tokens", "4097"),
                              ("prefix-tokens", "0"), ("prefix-tokens", "1e3"), ("branches", "0"),
                              ("branches", "many"), ("eager-branches", "0"), ("append-tokens", "-1"),
                              ("threads", "0"), ("threads", "65"), ("repeat", "0"), ("seed", ""),
                              ("seed", "18446744073709551616")):
            self.assert_refused(2, f"--{option}", f"--{option}={value}")

    def test_branches_beyond_the_memory_there_is_are_refused(self):
        largest = ("--layers=256", "--kv-heads=256", "--head-size=1024", "--prefix-tokens=1048576",
                   "--append-tokens=65536", "--tile-tokens=4096")
        self.assert_refused(2, "Give fewer --branches", "--branches=65536", *largest)
        self.assert_refused(2, "Give fewer --branches", "--eager-branches=1024", *largest)
        self.assert_refused(2, "Give fewer --branches", "--branches=65536")
        self.assert_refused(2, "Give fewer --branches", "--branches=1", "--eager-branches=1024")

    def test_unknown_options_and_stray_words_are_refused(self):
        self.assert_refused(2, "--nonsense", "--nonsense")
        self.assert_refused(2, "--layer", "--layer=5")
        self.assert_refused(2, "usage", "stray")
        self.assert_refused(2, "one file", "--json", "one", "two")

    def test_a_place_that_cannot_be_written_to_is_named(self):
        self.assert_refused(1, "figures.json", *SMALL, "--branches=4", "--json", "/no/such/figures.json")

    def test_json_goes_to_a_file_beside_the_table(self):
        path = self.scratch / "figures.json"
        done = run(*SMALL, "--branches=4", "--prefix-tokens=16", "--json", path)
        self.assertIn("tokens copied", done.stdout)
        self.assertIs(json.loads(path.read_text())["verified"], True)

    def test_help_names_every_option(self):
        done = run("--help", "--branches=65536", "--layers=256")  # more than there is memory for
        self.assertEqual(done.returncode, 0)
        for name in ("layers", "kv-heads", "head-size", "tile-tokens", "prefix-tokens", "branches",
                     "eager-branches", "append-tokens", "threads", "repeat", "seed", "json"):
            self.assertIn(f"--{name}", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
