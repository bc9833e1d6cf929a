# SPDX-License-Identifier: Apache-2.0
"""Run ids for runs whose CI gives no number of their own: the first 53 bits of a SHA-256.

The same words give the same id, so that a report sent again replaces the first one; other words
give another one, where the numbers of a CI would collide between two of its jobs.
"""

import hashlib

RUN_ID_BITS = 53
"""What every JSON reader keeps exactly."""


def hashed_run_id(words: str) -> int:
    """Give the run id that stands for words."""
    digest = hashlib.sha256(words.encode(errors="surrogateescape")).digest()
    return int.from_bytes(digest, "big") >> (len(digest) * 8 - RUN_ID_BITS)


def product_run_id(run_id: int, suite: str) -> int:
    """Give the run id that stands for a product's part of a CI run that may test several."""
    return hashed_run_id(f"{run_id} of {suite}")
