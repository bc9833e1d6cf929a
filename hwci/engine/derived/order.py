# SPDX-License-Identifier: Apache-2.0
"""Ranks of the commits of a branch: numbers in the order of their places (semantics, 3).

This module decides which commits get another rank when places change: as few as it takes, since
many rows hold a rank. Ranks lie far apart, so that a commit mostly finds room between two others.
The boxes of one run report in any order, so that its commits often move by seconds, together: their
order stays, and no rank changes.
"""

from collections.abc import Collection, Iterator, Sequence

STEP = 1 << 20
"""The distance of two commits that follow each other."""


def new_ranks(
    line: Sequence[tuple[str, int | None]], touched: Collection[str]
) -> dict[str, int] | None:
    """Return the ranks that change in a part of a branch; None: there is no room between two.

    `line` has the commits in order of place with the rank that they had. Only those `touched` may
    get another; a commit without a rank is one of them.
    """
    anchors = _anchors(line, touched)
    changed: dict[str, int] = {}
    for shas, before, after in _gaps(line, anchors):
        ranks = _between(before, after, len(shas))
        if ranks is None:
            return None
        changed.update(zip(shas, ranks, strict=True))
    return changed


def _anchors(line: Sequence[tuple[str, int | None]], touched: Collection[str]) -> set[str]:
    """Return the commits whose ranks stay: all that are not touched, and of the others those that
    still fit.
    """
    limits: list[int | None] = []  # the rank of the next commit that is not touched
    limit: int | None = None
    for sha, rank in reversed(line):
        limits.append(limit)
        if sha not in touched:
            limit = rank
    anchors: set[str] = set()
    last: int | None = None
    for (sha, rank), limit in zip(line, reversed(limits), strict=True):
        fits = rank is not None and _is_between(rank, last, limit)
        if sha not in touched or fits:
            anchors.add(sha)
            last = rank
    return anchors


def _is_between(rank: int, before: int | None, after: int | None) -> bool:
    return (before is None or before < rank) and (after is None or rank < after)


def _gaps(
    line: Sequence[tuple[str, int | None]], anchors: Collection[str]
) -> Iterator[tuple[list[str], int | None, int | None]]:
    """Yield each run of commits that get new ranks, with the ranks before and after it."""
    before: int | None = None
    waiting: list[str] = []
    for sha, rank in line:
        if sha not in anchors:
            waiting.append(sha)
            continue
        if waiting:
            yield waiting, before, rank
        before, waiting = rank, []
    if waiting:
        yield waiting, before, None


def _between(before: int | None, after: int | None, count: int) -> Sequence[int] | None:
    if before is None and after is None:
        return range(0, count * STEP, STEP)
    if after is None:
        assert before is not None
        return range(before + STEP, before + count * STEP + 1, STEP)
    if before is None:
        return range(after - count * STEP, after, STEP)
    step = (after - before) // (count + 1)
    return range(before + step, before + count * step + 1, step) if step > 0 else None
