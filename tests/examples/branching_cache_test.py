#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs branching_cache with small sizes, and compares its figures with a model of tiles and the branches that share
them."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import figures_of

TILE = 16  # tokens
TILE_MIB = TILE * 8 * 2 * 256 / 2**20  # the size of a tile of one layer


class Branch:
    """A branch in the model: a list of tiles. A tile is the set of the branches that share it."""

    def __init__(self, tiles=(), size=0):
        self.tiles, self.size = list(tiles), size
        for tile in self.tiles:
            tile.add(self)

    def append(self, count):
        """Returns the number of copied tiles: 1 if the last tile is partly filled and shared, else 0."""
        copies = self.size % TILE != 0 and len(self.tiles[-1]) > 1
        if copies:
            self.tiles.pop().remove(self)
            self.tiles.append({self})
        self.size += count
        while len(self.tiles) * TILE < self.size:
            self.tiles.append({self})
        return int(copies)

    def truncate(self, size):
        self.size = size
        while (len(self.tiles) - 1) * TILE >= size:
            self.tiles.pop().remove(self)

    def unlike(self, other):
        return len({id(tile) for tile in self.tiles} - {id(tile) for tile in other.tiles})


def expected(prefix_tokens, append, branches):
    prefix = Branch()
    prefix.append(prefix_tokens)
    copies, left = 0, []
    for number in range(branches):
        branch = Branch(prefix.tiles, prefix.size)
        copies += branch.append(append)
        if number % 4 == 1:
            branch.truncate(prefix_tokens + append // 2)
            copies += branch.append(TILE // 2)
        elif number % 4 == 2:
            copies += branch.append(TILE // 2)
            child = Branch(branch.tiles, branch.size)
            copies += branch.append(TILE // 2) + child.append(TILE // 2)
            left.append(child)
        if number % 4 != 3:
            left.append(branch)
    own = {id(tile) for branch in left for tile in branch.tiles} - {id(tile) for tile in prefix.tiles}
    return {"remaining branches": len(left), "wrong tokens": 0, "copies by byre": copies,
            "tiles not shared with the prefix": sum(branch.unlike(prefix) for branch in left),
            "MiB alive besides the prefix": len(own) * TILE_MIB}


def run_with(prefix, append, branches, *more):
    figures = figures_of("--layers=1", f"--prefix-tokens={prefix}", f"--append-tokens={append}",
                         f"--branches={branches}", *more)
    assert figures["faults"] == []
    return figures["branches"]


class BranchesInTiles(unittest.TestCase):
    def test_the_numbers_of_copied_and_live_tiles_equal_the_models(self):
        for sizes in ((64, 64, 40), (60, 64, 41), (1, 1, 1), (17, 3, 6), (60, 1, 11), (41, 15, 12), (700, 5, 7)):
            for threads in 1, 3:
                with self.subTest(sizes=sizes, threads=threads):
                    tiles = run_with(*sizes, f"--threads={threads}")
                    wanted = expected(*sizes)
                    for name in [name for name in wanted if tiles[name] is None]:
                        del wanted[name]  # built without counters
                    self.assertEqual({name: tiles[name] for name in wanted}, wanted)

    def test_extra_memory_per_branch_is_small(self):
        tiles = figures_of("--layers=8", "--branches=100", "--prefix-tokens=1024", "--append-tokens=16")["branches"]
        extra = tiles["extra memory, KiB each"]
        if extra is None:
            self.skipTest("the system does not report resident memory")
        self.assertLess(extra, (1024 + 100 * 16) * 32 / 100 / 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
