# SPDX-License-Identifier: Apache-2.0
"""Tags of answers (`ETag`, RFC 9110, 8.8.3): what an answer rests on, in a name.

This module decides what a tag is made of, and so which answers a caller has already, and which were
made for another one. What the caller may see is decided before.
"""

import asyncio
from collections.abc import Collection, Hashable
from concurrent.futures import Future
from hashlib import blake2b

from hwci.engine.rules import classify
from hwci.server.services.shared_answers import SharedAnswers
from hwci.version import build_version

_CODE = f"{build_version()} {classify.VERSION}"
_BYTES = 16


class Tags:
    """The tags of the answers that a caller has to a question, and that of the answer it gets.
    `shared`: answers that were made for others; `alike`: what they have in common with this caller
    if their answers are the same bytes.
    """

    def __init__(
        self,
        question: str | None = None,
        known: Collection[str] = (),
        shared: SharedAnswers | None = None,
        alike: Hashable = None,
    ) -> None:
        self.question = question
        self._known = known
        self._shared, self._alike = shared, alike
        self._made: Hashable | None = None
        self._other: bytes | Future[bytes | None] | None = None
        self.tag: str | None = None
        """Of the answer; None: it has none."""
        self.is_known = False
        """Whether the caller has this answer: it gets no other."""

    @property
    def is_answered(self) -> bool:
        """Whether nothing is to be made: the caller has the answer, or another one's is there."""
        return self.is_known or self._other is not None

    def note(self, state: bytes | None, *moving: object) -> None:
        """Note what the answer rests on: the state of the history, and what else of it the clock
        moves: of a period the first and the last instant of what it holds (None: nothing).
        """
        if state is None:
            return
        made_of = "\n".join((_CODE, state.hex(), *map(repr, moving), self.question or ""))
        self.tag = blake2b(made_of.encode(), digest_size=_BYTES).hexdigest()
        self.is_known = self.tag in self._known
        key = self._alike, self.tag
        if self._shared is None or self.is_known or self._made == key:
            return
        self.give_up()  # it was begun for a state that has passed
        self._other = self._shared.take(key)
        self._made = None if self._other is not None else key

    async def other(self) -> bytes | None:
        """Return the answer that is made for another caller; None if nobody makes it any more."""
        if isinstance(self._other, Future):
            return await asyncio.shield(asyncio.wrap_future(self._other))
        return self._other

    def share(self, data: bytes) -> None:
        """Give the answer that was made for this caller to others, too, if it has a tag."""
        if self._shared is not None and self._made is not None and self.tag is not None:
            self._shared.put(self._made, data)
            self._made = None

    def give_up(self) -> None:
        """Leave the answer to others, if it was this caller's to make and is not made."""
        if self._shared is not None and self._made is not None:
            self._shared.give_up(self._made)
            self._made = None
