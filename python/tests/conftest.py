# SPDX-License-Identifier: BSL-1.0
import os
import random

import pytest


@pytest.fixture
def chance():
    """Random numbers, from the seed that is printed with a failure."""
    seed = int(os.environ.get("BYRE_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"BYRE_SEED={seed}")
    return random.Random(seed)
