# SPDX-License-Identifier: Apache-2.0
"""How often a test tries what is a matter of luck: a few times in `make test`, and as often as it
takes to meet the rare case in `make soak`, which sets SOAK=1 and runs only tests of files that
import `rounds` (tests/conftest.py marks them).
"""

import os
from typing import TypeVar

Rounds = TypeVar("Rounds")

SOAK = os.environ.get("SOAK") == "1"


def rounds(few: Rounds, all_of_them: Rounds) -> Rounds:
    """Return the number of rounds, stories, kills or examples to try, or what to try."""
    return all_of_them if SOAK else few
