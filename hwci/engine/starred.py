# SPDX-License-Identifier: Apache-2.0
"""Patterns of names and texts, in which each `*` stands for any characters and nothing else is
special. What such a pattern is about is decided where it stands.
"""

from collections.abc import Callable

ANY = "*"
"""What stands for any characters."""


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return whether a pattern matches a whole text, as a function. Each part between two `*` is
    looked for once, from where the one before ended: the first place is as good as any later one.
    """
    first, *others = pattern.split(ANY)
    if not others:
        return first.__eq__
    *middle, last = others
    longest = max(middle, key=len, default="")

    def fits(text: str) -> bool:
        if longest not in text or not text.startswith(first):
            return False
        at = len(first)
        for part in middle:
            start = text.find(part, at)
            if start < 0:
                return False
            at = start + len(part)
        return len(text) - at >= len(last) and text.endswith(last)

    return fits
