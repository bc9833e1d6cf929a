# SPDX-License-Identifier: Apache-2.0
"""How many connections there may be at once, of all and of one address (contract, "Everywhere").

An address may hold a quarter of the places, so that no single one keeps the others out; proxies
that are trusted carry many people's requests and may hold them all. What is full is said once, and
again only after half of it was free. This module accepts nothing: `listener.py` does.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from hwci.server.http.addresses import sender
from hwci.server.settings import Network

LOG = logging.getLogger("hwci.server")

PARTS = 4
"""Of so many equal parts of the places an address may hold one."""
_ALL = ""


class Places:
    """The places of one server. `most`: connections at once; `trusted`: proxies."""

    def __init__(self, most: int, trusted: Sequence[Network] = ()) -> None:
        self._most, self._each = most, max(1, most // PARTS)
        self._trusted = trusted
        self._held = Counter[str]()
        self._total = 0
        self._said = set[str]()

    @property
    def full(self) -> bool:
        """Whether nobody else may connect."""
        return self._total >= self._most

    def say_full(self, why: str) -> None:
        """Tell the operator why new connections wait."""
        held = f"{self._total} connections are held of {self._most}"
        self._say(_ALL, f"New connections wait: {why}; {held}")

    def take(self, peer: str) -> Callable[[], None] | None:
        """Return what gives a place back, to be called once; None: the peer holds too many."""
        address = sender(peer, self._trusted)
        if address and self._held[address] >= self._each:
            held = f"{self._each} connections, as many as one address may"
            self._say(address, f"{address} holds {held}; its further ones are closed at once")
            return None
        self._total += 1
        if address:
            self._held[address] += 1
        return partial(self._free, address)

    def _free(self, address: str | None) -> None:
        self._total -= 1
        if address:
            self._held[address] -= 1
            if self._held[address] <= self._each // 2:
                self._said.discard(address)
            if not self._held[address]:
                del self._held[address]
        if _ALL in self._said and self._total <= self._most // 2:
            self._said.discard(_ALL)
            LOG.warning("New connections are taken at once again: half of the places are free")

    def _say(self, what: str, words: str) -> None:
        if what not in self._said:
            self._said.add(what)
            LOG.warning(words)
