# SPDX-License-Identifier: Apache-2.0
"""Which of many path patterns matches a path first (semantics, 11).

All patterns are followed at once, as one set of states: the bits of one integer. Where a character
leads from a set is computed once and kept, so a path costs one look-up a character. A list that
needs too many sets is halved. So the time is linear in path and list, whatever the patterns are.
"""

import re
from collections.abc import Sequence
from typing import Protocol

# A token is one character. The special ones are characters that no legal pattern holds.
_ANY = "?"  # any characters: "`**`: any characters across directory levels"
_LEVEL = "*"  # any characters but /: "`*`: any characters within one directory level"
_ENTRY = "["  # before directories that may be missing; `_UNTIL` follows it
_UNTIL = "]"  # any characters, the last of them a /
_END = "}"
_SPECIAL = {_ANY, _LEVEL, _ENTRY, _UNTIL, _END}

# "`**/` at the start or after `/`: also nothing"; two in a row match the same as one.
_DIRECTORIES = re.compile(r"(?<![^/])(?:\*\*/)+")
# Three stars are two and one, and `**` followed by `*` matches the same as `**`.
_STARS = re.compile(r"\*{2,}")

_TOGETHER_MAX = 1_024
"""Sets of states of one automaton. One pattern needs some hundred, and so do lists that people
write.
"""
_STATE_BYTES = 512
_STEP_BYTES = 128
_CHARACTER_BYTES = 4


class Keeper(Protocol):
    """An object that caches within a budget."""

    def forget(self) -> None:
        """Drop everything cached."""


class CacheBudget:
    """Bytes, approximately, that all caches share. Once used up, every cache is emptied."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._left = size
        self._keepers: dict[int, Keeper] = {}

    def take(self, keeper: Keeper, size: int) -> None:
        """Count what `keeper` is about to cache. If it does not fit, empty all caches first."""
        if size > self._left:
            keepers, self._keepers = self._keepers, {}
            self._left = self._size
            for cache in keepers.values():
                cache.forget()
        self._left -= size
        self._keepers[id(keeper)] = keeper


BUDGET = CacheBudget(12 * 1024 * 1024)


class _State(dict[str, "_State"]):
    """A set of states, and where characters lead. `found`: the pattern of a path that ends here."""

    __slots__ = ("_automaton", "_states", "found")

    def __init__(self, automaton: "Automaton", states: int, pattern: str | None) -> None:
        self._automaton = automaton
        self._states = states
        self.found = pattern

    def __missing__(self, character: str) -> "_State":
        state = self[character] = self._automaton.after(self._states, character)
        return state


class Automaton:
    """Legal patterns without their `!`. Bit n of a set: all tokens before n are matched."""

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
        BUDGET.take(self, len(self._backwards) * _CHARACTER_BYTES)

    def first(self, path: str) -> str | None:
        """Return the first pattern that matches a whole path."""
        if self._halves:
            return next((pattern for half in self._halves if (pattern := half.first(path))), None)
        state = self._begin
        for character in path:
            state = state[character]
        if len(self._known) > _TOGETHER_MAX and len(self._patterns) > 1:
            half = len(self._patterns) // 2
            self._halves = Automaton(self._patterns[:half]), Automaton(self._patterns[half:])
            self.forget()
        return state.found

    def forget(self) -> None:
        """Drop all sets and steps. They refer to each other, so each is emptied."""
        for state in (self._begin, *self._known.values()):
            state.clear()
        self._known = {}
        self._led_on = {}

    def after(self, states: int, character: str) -> _State:
        """Return the set that a character leads to from a set of states."""
        BUDGET.take(self, _STEP_BYTES)
        loops = self._kept_by_slash if character == "/" else self._kept_by_others
        after = self._closed(states & loops | (states & self._led_on_by(character)) << 1)
        state = self._known.get(after)
        if state is None:
            BUDGET.take(self, _STATE_BYTES + self._width_bytes)
            state = self._known[after] = self._made(after)
        return state

    def _made(self, states: int) -> _State:
        ended = states & self._ends
        before = self._ends & (ended & -ended) - 1
        return _State(self, states, self._patterns[before.bit_count()] if ended else None)

    def _closed(self, states: int) -> int:
        """Add the states reached without a character: skip directories, then stars."""
        entered = states & self._entry
        states |= entered << 1 | entered << 2
        return states | (states & self._stars) << 1

    def _led_on_by(self, character: str) -> int:
        states = self._led_on.get(character)
        if states is None:
            BUDGET.take(self, _STEP_BYTES + self._width_bytes)
            states = 0 if character in _SPECIAL else self._places(character)
            if character == "/":
                states |= self._until
            self._led_on[character] = states
        return states

    def _places(self, token: str) -> int:
        """Return the places of a token, read as the digits of an integer, the last place first."""
        parts = self._backwards.split(token)
        return int("1".join("0" * len(part) for part in parts) or "0", 2)


def _tokens(pattern: str) -> str:
    return _STARS.sub(_ANY, _DIRECTORIES.sub(_ENTRY + _UNTIL, pattern)) + _END
