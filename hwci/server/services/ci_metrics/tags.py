# SPDX-License-Identifier: Apache-2.0
"""Tags of answers (`ETag`, RFC 9110, 8.8.3): what an answer rests on, in a name.

This module decides what a tag is made of, and so which answers a caller has already. What the
caller may see is decided before.
"""

from collections.abc import Collection
from hashlib import blake2b

from hwci.engine.rules import classify
from hwci.version import build_version

_CODE = f"{build_version()} {classify.VERSION}"
_BYTES = 16


class Tags:
    """The tags of the answers that a caller has to a question, and that of the answer it gets."""

    def __init__(self, question: str = "", known: Collection[str] = ()) -> None:
        self._question = question
        self._known = known
        self.tag: str | None = None
        """Of the answer; None: it has none."""
        self.is_known = False
        """Whether the caller has this answer: it gets no other."""

    def note(self, state: bytes | None, *moving: object) -> None:
        """Note what the answer rests on: the state of the history, and what else of it the clock
        moves: of a period the first and the last instant of what it holds (None: nothing).
        """
        if state is None:
            return
        made_of = "\n".join((_CODE, state.hex(), *map(repr, moving), self._question))
        self.tag = blake2b(made_of.encode(), digest_size=_BYTES).hexdigest()
        self.is_known = self.tag in self._known
