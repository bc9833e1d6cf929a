# SPDX-License-Identifier: Apache-2.0
"""How often a test tries what is a matter of luck: a few times in `make test`, and as often as it
takes to meet the rare case in `make soak`, which sets SOAK=1 and runs only tests of files that
import `rounds` (tests/conftest.py marks them).
"""

import os
from collections.abc import Sequence
from typing import TypeVar

Number = TypeVar("Number", int, Sequence[int])

SOAK = os.environ.get("SOAK") == "1"


def rounds(few: Number, all_of_them: Number) -> Number:
    """Return the number of rounds, stories, kills or examples to try, or their seeds."""
    return all_of_them if SOAK else few
