# SPDX-License-Identifier: Apache-2.0
"""Path patterns of a suite configuration (spec, "Path pattern rules"; semantics, 11).

This module decides which paths a list of patterns matches, and which patterns are legal. It does
not know what the list is for, nor how it is matched: `automaton.py`.
"""

import re
from collections.abc import Sequence

from hwci.engine.automaton import BUDGET, Automaton

LENGTH_MAX = 1_024
"""Characters of a pattern. No path of a source tree is longer."""
_FORBIDDEN = "?+[]{}\\"  # "A pattern containing any of ... is invalid" (rule 4)
_ESCAPED = re.escape(_FORBIDDEN)
LEGAL = f"^(![^{_ESCAPED}]+|[^!{_ESCAPED}][^{_ESCAPED}]*)$"
"""The same rules for one pattern, as a regular expression for a schema."""
_ENTRY_BYTES = 160
_CHARACTER_BYTES = 4


class PatternError(ValueError):
    """A list of path patterns breaks a rule; the message says which pattern and why."""


def check_patterns(patterns: Sequence[str]) -> list[tuple[int, str]]:
    """Return the index and message of every fault in a list."""
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
    """Legal patterns: a path matches "when a plain pattern matches and no `!` pattern does"."""

    def __init__(self, plain: Sequence[str], excluding: Sequence[str]) -> None:
        self._matching = Automaton(plain)
        self._excluding = Automaton(excluding)
        self.forget()

    @classmethod
    def parse(cls, patterns: Sequence[str]) -> "PathList":
        """Return a list ready to match. Raises `PatternError` at its first fault."""
        for index, message in check_patterns(patterns):
            raise PatternError(f"Pattern {index + 1} ({patterns[index]!r}): {message}")
        return cls(
            [pattern for pattern in patterns if not pattern.startswith("!")],
            [pattern[1:] for pattern in patterns if pattern.startswith("!")],
        )

    def matches(self, path: str) -> bool:
        """Whether a path matches the list."""
        return self.deciding(path) is not None

    def deciding(self, path: str) -> str | None:
        """Return the first plain pattern that made a path match; None when it does not match."""
        try:
            return self._decided[path]
        except KeyError:
            pattern = self._matching.first(path)
            if pattern is not None and self._excluding.first(path) is not None:
                pattern = None
            BUDGET.take(self, _ENTRY_BYTES + _CHARACTER_BYTES * len(path))
            self._decided[path] = pattern
            return pattern

    def forget(self) -> None:
        """Empty the cache of decisions. It exists because a history names the same files again."""
        self._decided: dict[str, str | None] = {}
