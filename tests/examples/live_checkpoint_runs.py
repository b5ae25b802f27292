# SPDX-License-Identifier: BSL-1.0
"""Small runs of live_checkpoint, for its tests: a text to train on, and the arguments."""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import Test

TOKENS, EVERY, DIMENSIONS, TILE_ROWS = 6000, 1000, 32, 512


def write_text(path, words=4000, seed=1):
    """Text of which every part has words of its own, as documents do, and some common ones."""
    choose = random.Random(seed)
    common = [f"common{number}" for number in range(50)]
    text = []
    for position in range(words):
        own = f"word{position // 2 + choose.randrange(20)}"
        text.append(own if choose.random() < 0.7 else choose.choice(common))
    path.write_text(" ".join(text) + "\n")


class WithText(Test):
    def setUp(self):
        super().setUp()
        self.text = self.scratch / "text"
        write_text(self.text)
        self.small = self.small_but()

    def small_but(self, **changes):
        """The arguments of a small run, with changes."""
        options = {"text": self.text, "tokens": TOKENS, "snapshot_every": EVERY,
                   "dimensions": DIMENSIONS, "tile_rows": TILE_ROWS, **changes}
        return [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
