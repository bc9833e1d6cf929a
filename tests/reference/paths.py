# SPDX-License-Identifier: Apache-2.0
"""This module decides which files a list of path patterns matches (§11).

It tries every way to read a pattern, which takes exponential time; its patterns are short.
"""

from functools import cache


def matches_list(patterns: list[str], path: str) -> bool:
    """A path matches a list when some plain pattern matches and no `!` pattern does."""
    plain = [pattern for pattern in patterns if not pattern.startswith("!")]
    excluding = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    return any(matches(one, path) for one in plain) and not any(
        matches(one, path) for one in excluding
    )


@cache
def matches(pattern: str, path: str, at_level_start: bool = True) -> bool:
    """Anchored at both ends, case-sensitive, over the whole path."""
    if pattern == "":
        return path == ""
    if pattern.startswith("**/") and at_level_start and matches(pattern[3:], path):
        return True  # `**/` at the start or after a `/` also matches nothing
    if pattern.startswith("**"):
        return any(matches(pattern[2:], path[n:], False) for n in range(len(path) + 1))
    if pattern.startswith("*"):
        level = path.split("/", maxsplit=1)[0]
        return any(matches(pattern[1:], path[n:], False) for n in range(len(level) + 1))
    return path[:1] == pattern[0] and matches(pattern[1:], path[1:], pattern[0] == "/")
