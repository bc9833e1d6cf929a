# SPDX-License-Identifier: Apache-2.0
"""Path patterns of a suite configuration (spec, "Path pattern rules"; semantics, 11).

This module decides which paths a list of patterns matches, and which patterns are legal. It does
not know what the list stands for. Many patterns are followed at once, as one set of states in one
integer, so that the time is linear in the path whatever the patterns are. A long list is followed
in several such sets: what a set costs grows with its square.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

LENGTH_MAX = 1_024
"""Characters of a pattern. No path of a source tree is longer."""
_SET_CHARACTERS = 2 * LENGTH_MAX
_FORBIDDEN = "?+[]{}\\"  # "A pattern containing any of ... is invalid" (rule 4)
_PATHS_KEPT = 32_768


class PatternError(ValueError):
    """A list of path patterns breaks a rule; the message says which pattern and why."""


def check_patterns(patterns: Sequence[str]) -> list[tuple[int, str]]:
    """Give the index and message of every fault in a list."""
    faults = []
    excluded = False
    for index, pattern in enumerate(patterns):
        excludes = pattern.startswith("!")
        faults += [(index, message) for message in _faults(pattern.removeprefix("!"))]
        if excluded and not excludes and pattern:
            faults.append((index, "A pattern without ! must stand before all patterns with !"))
        excluded = excluded or excludes
    return faults


def _faults(pattern: str) -> list[str]:
    if not pattern:
        return ["A pattern must not be empty"]
    if len(pattern) > LENGTH_MAX:
        return [f"A pattern must not be longer than {LENGTH_MAX:,} characters"]
    used = [sign for sign in _FORBIDDEN if sign in pattern]
    if not used:
        return []
    return [f"A pattern must not contain {' '.join(used)}; only *, ** and a leading ! are special"]


class PathList:
    """A legal list of patterns: "A path matches a list when some plain pattern matches and no `!`
    pattern does".
    """

    def __init__(self, plain: Sequence[str], excluding: Sequence[str]) -> None:
        self._matching = [_Matcher(some) for some in _sets(plain)]
        self._excluding = [_Matcher(some) for some in _sets(excluding)]
        # A history names the same files over and over: each path is matched once.
        self.deciding = lru_cache(_PATHS_KEPT)(self._decide)

    @classmethod
    def parse(cls, patterns: Sequence[str]) -> "PathList":
        """Make a list of patterns ready to match. Raises `PatternError` at its first fault."""
        for index, message in check_patterns(patterns):
            raise PatternError(f"Pattern {index + 1} ({patterns[index]!r}): {message}")
        return cls(
            [pattern for pattern in patterns if not pattern.startswith("!")],
            [pattern[1:] for pattern in patterns if pattern.startswith("!")],
        )

    def matches(self, path: str) -> bool:
        """Whether a path matches the list."""
        return self.deciding(path) is not None

    def _decide(self, path: str) -> str | None:
        """Give the first plain pattern that made the path match; None when it does not match."""
        pattern = _first(self._matching, path)
        return None if pattern is None or _first(self._excluding, path) is not None else pattern


def _first(matchers: Sequence["_Matcher"], path: str) -> str | None:
    """Give the first pattern of all that matches a whole path."""
    return next((found for one in matchers if (found := one.first(path)) is not None), None)


def _sets(patterns: Sequence[str]) -> Iterator[list[str]]:
    """Cut a list into patterns that are followed together."""
    together: list[str] = []
    for pattern in patterns:
        if sum(map(len, together)) + len(pattern) > _SET_CHARACTERS:
            yield together
            together = []
        together.append(pattern)
    if together:
        yield together


class _Matcher:
    """Patterns at once. Bit n of a state set: everything before token n has been matched.

    "`*` matches any characters within one directory level", "`**` ... across directory levels",
    and `**/` at the start of a pattern or after a `/` "also matches nothing". That last one takes
    two states: an entry, which may be skipped, and a wait for its `/`, which may not.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns
        self._steps: dict[str, int] = defaultdict(int)  # character: states that it leads on from
        self._any = 0  # states that any character keeps
        self._level = 0  # states that any character but / keeps
        self._entry = 0  # states before a directory part that may be missing
        self._size = 0
        self._ends: list[int] = []
        starts = 0
        for pattern in patterns:
            starts |= 1 << self._size
            self._add(pattern)
        self._accepting = sum(1 << end for end in self._ends)
        self._wide = self._any & ~(self._entry << 1)
        self._start = self._closed(starts)

    def _add(self, pattern: str) -> None:
        at = 0
        while at < len(pattern):
            at = self._token(pattern, at)
        self._ends.append(self._size)
        self._size += 1

    def _token(self, pattern: str, at: int) -> int:
        """Add the token at a position and give the position after it."""
        here = 1 << self._size
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            if here >> 2 & self._entry:  # a second one in a row says no more than one
                return at + 3
            self._entry |= here
            self._any |= here << 1
            self._steps["/"] |= here << 1
            self._size += 2
            return at + 3
        self._size += 1
        if pattern[at] != "*":
            self._steps[pattern[at]] |= here
            return at + 1
        end = at
        while end < len(pattern) and pattern[end] == "*":
            end += 1
        # Three stars are two and one, and `**` followed by `*` says no more than `**`.
        if end - at > 1:
            self._any |= here
        else:
            self._level |= here
        return end

    def _closed(self, states: int) -> int:
        """Add the states that matching nothing leads to: skip directory parts, then stars."""
        entered = states & self._entry
        states |= entered << 1 | entered << 2
        return states | (states & (self._wide | self._level)) << 1

    def first(self, path: str) -> str | None:
        """Give the first pattern that matches a whole path."""
        states = self._start
        for sign in path:
            kept = self._any if sign == "/" else self._any | self._level
            states = self._closed(states & kept | (states & self._steps.get(sign, 0)) << 1)
            if not states:
                return None
        ended = states & self._accepting
        if not ended:
            return None
        return self._patterns[self._ends.index((ended & -ended).bit_length() - 1)]
