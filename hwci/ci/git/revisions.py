# SPDX-License-Identifier: Apache-2.0
"""Which commits people mean who write `main`, `HEAD~1` or a short hash: a report holds full hashes
(spec, "Run report"). What git does not know is not sent, but said: a fault, or of a hint, a note.
"""

import re
from collections.abc import Mapping
from typing import Any

from hwci.ci.git.checkout import Checkout
from hwci.ci.sourced import Sourced
from hwci.wire.hashes import is_hash

HINTS = ("before_sha", "base_sha")
"""What a report is better with, and can be without."""
FIELDS = ("sha", "covers_shas", *HINTS)

_FULL = re.compile(r"[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64}|0{7,}")
"""A hash of zeros, of any length, stands for no commit."""


def in_full(
    told: Mapping[str, Sourced[Any]], checkout: Checkout | None
) -> tuple[dict[str, Sourced[Any]], dict[str, str]]:
    """Write the commits among what people told as full hashes. Gives all that they told, without
    the fields that name what is no commit here, and what to say of each of these.
    """
    found, faults = dict(told), {}
    for name in FIELDS:
        if name not in told:
            continue
        value, by = told[name].value, told[name].source
        revisions = value if isinstance(value, tuple) else (value,)
        shas = tuple(full_hash(revision, checkout) for revision in revisions)
        unknown = [text for text, sha in zip(revisions, shas, strict=True) if sha is None]
        if unknown:
            faults[name] = f"{by} is {', '.join(map(repr, unknown))}: {_why(checkout)}"
            del found[name]
        else:
            found[name] = Sourced(shas if isinstance(value, tuple) else shas[0], by)
    return found, faults


def full_hash(revision: str, checkout: Checkout | None) -> str | None:
    """Give the hash of a revision, in full where there is a repository; None: there is none."""
    text = revision.strip()
    # Without a repository, nobody here knows better than what a report may hold.
    if is_hash(text) if checkout is None else _FULL.fullmatch(text):
        return text.lower()
    return checkout.resolved(text) if checkout is not None and text else None


def _why(checkout: Checkout | None) -> str:
    if checkout is None:
        return "that is no hash, and here is no repository in which git could look it up"
    return "that is no full hash, and git knows no such commit in this clone, which may lack it"
