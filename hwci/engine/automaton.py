# SPDX-License-Identifier: Apache-2.0
"""Which of many path patterns matches a path first (semantics, 11).

The patterns are followed at once, as one set of states, which is the bits of one integer. Where a
sign leads from a set is computed when it is first asked for, and kept: a path then costs one
look-up a sign, however long the list. When a list comes to too many sets, its patterns take turns
that have nothing to do with each other: from then on each half of it is followed by itself. So the
time is linear in the path and in the list, whatever the patterns are.
"""

import re
from collections.abc import Sequence

from hwci.engine.room import ROOM

# A token is one sign. The special ones are of those that no pattern may hold as themselves.
_ANY = "?"  # any signs: "`**` matches any characters across directory levels"
_LEVEL = "*"  # any signs but /: "`*` matches any characters within one directory level"
_ENTRY = "["  # before a directory part that may be missing; `_UNTIL` follows it
_UNTIL = "]"  # any signs, the last of them a /
_END = "}"
_SPECIAL = {_ANY, _LEVEL, _ENTRY, _UNTIL, _END}

# "`**/` at the start of a pattern or after a `/` also matches nothing"; two say no more than one.
_DIRECTORIES = re.compile(r"(?<![^/])(?:\*\*/)+")
# Three stars are two and one, and `**` followed by `*` says no more than `**`.
_STARS = re.compile(r"\*{2,}")

_TOGETHER_MAX = 1_024
"""Sets of states that patterns come to together. One alone has some hundred that follow each other;
and so have lists that people write.
"""
_STATE_BYTES = 512
_STEP_BYTES = 128
_CHARACTER_BYTES = 4


class _State(dict[str, "_State"]):
    """A set of states, and the sets that signs lead to. `found`: the first pattern that matches a
    path which ends here.
    """

    __slots__ = ("_automaton", "_states", "found")

    def __init__(self, automaton: "Automaton", states: int, found: str | None) -> None:
        self._automaton = automaton
        self._states = states
        self.found = found

    def __missing__(self, sign: str) -> "_State":
        state = self[sign] = self._automaton.after(self._states, sign)
        return state


class Automaton:
    """Legal patterns without their `!`. Bit n of a set: all before token n has been matched."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns
        self._halves: tuple[Automaton, ...] = ()
        self._backwards = "".join(map(_tokens, patterns))[::-1]
        self._entry = self._places(_ENTRY)
        self._until = self._places(_UNTIL)
        self._stars = self._places(_ANY) | self._places(_LEVEL)
        self._kept_by_slash = self._places(_ANY) | self._until
        self._kept_by_others = self._stars | self._until
        self._ends = self._places(_END)
        self._width_bytes = len(self._backwards) // 7
        starts = (self._ends << 1 | 1) & (1 << len(self._backwards)) - 1
        self._begin = self._made(self._closed(starts))
        self._known: dict[int, _State] = {}
        self._led_on: dict[str, int] = {}
        ROOM.take(self, len(self._backwards) * _CHARACTER_BYTES)

    def first(self, path: str) -> str | None:
        """Return the first pattern that matches a whole path."""
        if self._halves:
            return next((found for half in self._halves if (found := half.first(path))), None)
        state = self._begin
        for sign in path:
            state = state[sign]
        if len(self._known) > _TOGETHER_MAX and len(self._patterns) > 1:
            half = len(self._patterns) // 2
            self._halves = Automaton(self._patterns[:half]), Automaton(self._patterns[half:])
            self.forget()
        return state.found

    def forget(self) -> None:
        """Let go of all sets and steps. They lead to each other, so each is emptied."""
        for state in (self._begin, *self._known.values()):
            state.clear()
        self._known = {}
        self._led_on = {}

    def after(self, states: int, sign: str) -> _State:
        """Return where a sign leads from a set of states."""
        ROOM.take(self, _STEP_BYTES)
        kept = self._kept_by_slash if sign == "/" else self._kept_by_others
        after = self._closed(states & kept | (states & self._led_on_by(sign)) << 1)
        state = self._known.get(after)
        if state is None:
            ROOM.take(self, _STATE_BYTES + self._width_bytes)
            state = self._known[after] = self._made(after)
        return state

    def _made(self, states: int) -> _State:
        ended = states & self._ends
        before = self._ends & (ended & -ended) - 1
        return _State(self, states, self._patterns[before.bit_count()] if ended else None)

    def _closed(self, states: int) -> int:
        """Add the states that matching nothing leads to: skip directory parts, then stars."""
        entered = states & self._entry
        states |= entered << 1 | entered << 2
        return states | (states & self._stars) << 1

    def _led_on_by(self, sign: str) -> int:
        """Return the states that a sign leads on from."""
        states = self._led_on.get(sign)
        if states is None:
            ROOM.take(self, _STEP_BYTES + self._width_bytes)
            places = 0 if sign in _SPECIAL else self._places(sign)
            states = self._led_on[sign] = places | self._until if sign == "/" else places
        return states

    def _places(self, token: str) -> int:
        """Return where a token stands. The integer is read from its digits, the last bit first."""
        parts = self._backwards.split(token)
        return int("1".join("0" * len(part) for part in parts) or "0", 2)


def _tokens(pattern: str) -> str:
    return _STARS.sub(_ANY, _DIRECTORIES.sub(_ENTRY + _UNTIL, pattern)) + _END
