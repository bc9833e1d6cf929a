# SPDX-License-Identifier: Apache-2.0
"""Memory that requests share: bodies that arrive, and answers that wait to be taken.

This module decides how many bytes are held, for whom they count, and who gives way when there is no
room: the organization or address that holds the most, so none keeps another one out. It does not
know what is held, nor what it means to give way.
"""

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Share:
    """What an organization, key or address holds. `turns`: large bodies parsed since it last held
    none.
    """

    held: int = 0
    holdings: int = 0
    turns: int = 0


class Holding:
    """What one request holds: `size` bytes, which count for its sender while it is charged."""

    def __init__(self, room: "Room") -> None:
        self.size = 0
        self.evicted = False
        self.shares: tuple[Share, ...] = ()
        self._room = room
        self._names: tuple[Hashable, ...] = ()

    def charge_to(self, organization: Hashable, key: Hashable) -> None:
        """Count for this sender, before anything is held."""
        self._names = (organization, (organization, key))
        self.shares = tuple(self._room.shares.setdefault(name, Share()) for name in self._names)
        for share in self.shares:
            share.holdings += 1

    def hold(self, size: int) -> None:
        """Hold so many bytes more. Where there is no room others give way, or this one does."""
        if not self.evicted:
            self._count(size)
        while self._room.held > self._room.most:
            self._room.greediest(self).evict()

    def evict(self) -> None:
        """Free these bytes for others. Who held them must not use them any more."""
        self.evicted = True
        self.free()

    def free(self) -> None:
        """Hold nothing any more."""
        self._count(-self.size)

    def leave(self) -> None:
        """Hold nothing, and count for nobody."""
        self.free()
        for name, share in zip(self._names, self.shares, strict=True):
            share.holdings -= 1
            if not share.holdings:
                del self._room.shares[name]
        self._names = self.shares = ()

    @property
    def weight(self) -> tuple[int, ...]:
        """The heaviest is evicted first."""
        return (*(share.held for share in self.shares), self.size)

    def _count(self, size: int) -> None:
        self.size += size
        self._room.held += size
        for share in self.shares:
            share.held += size


class Room:
    """So many bytes. `movable`: the holdings that may be evicted."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        self.shares: dict[Hashable, Share] = {}
        self.movable: set[Holding] = set()

    def greediest(self, claimant: Holding) -> Holding:
        """Return what to evict: of the organization that holds the most, the largest holding of the
        key that holds the most; among equals the claimant.
        """
        able = {holding for holding in self.movable if holding.size} | {claimant}
        return max(able, key=lambda holding: (*holding.weight, holding is claimant))
