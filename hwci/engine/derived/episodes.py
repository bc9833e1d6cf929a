# SPDX-License-Identifier: Apache-2.0
"""Which failures of a lane are one episode, kept up to date (semantics, 4.3-4.4).

"Failures of a lane that are not flakes and have no passed commit between them are one group." So an
episode is what failed between two commits of the lane that passed, one after the other. This module
decides which episodes a changed commit can touch, and forms those again; it does not know reports.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from hwci.engine.derived.rows import UNFIXED, Episode, Ranked, Rows, Track
from hwci.engine.test_sets import Mask, tests_in


class Point(NamedTuple):
    """The rank of a commit on a track and what tests did there, as in `Results`."""

    rank: int
    passed: Mask
    failed: Mask
    reviewed: Mask


class Shift(NamedTuple):
    """A commit of a track before and after a write; None: it had no place, or has none now."""

    sha: str
    before: Point | None
    after: Point | None


class Change(NamedTuple):
    """What a shift takes from the lanes of a track at one rank, and adds to them at another.

    `ended` and `lost`: tests that no longer passed, or failed, at the commit's old place. A commit
    that moves takes all that it did away and adds it again.
    """

    sha: str
    old: int | None
    ended: Mask
    lost: Mask
    new: int | None
    passed: Mask
    failed: Mask
    reviewed: Mask

    def within(self, episode: Episode) -> bool:
        """Whether it takes or adds something of the test from its first to its last commit."""
        tests = self.ended | self.lost | self.passed | self.failed | self.reviewed
        ranks = (rank for rank in (self.old, self.new) if rank is not None)
        first, last = episode.first.rank, episode.last.rank
        return bool(tests >> episode.test & 1) and any(first <= rank <= last for rank in ranks)


class Piece(NamedTuple):
    """A part of an episode: failures of a test with no passed commit between them."""

    test: int
    first: Ranked
    last: Ranked
    commits: int
    flake: bool


def update(rows: Rows, track: Track, shifts: Iterable[Shift]) -> None:
    """Form the episodes again that these commits can touch, and write those that differ."""
    changes = [_change(shift) for shift in shifts]
    touched = _touched(rows, track, changes)
    pieces = {piece for episode in touched for piece in _left(rows, track, episode, changes)}
    pieces.update(piece for change in changes for piece in _added(change))
    fixes = _next_passes(rows, track, {(piece.last.rank, piece.test) for piece in pieces})
    parts = {Episode(*piece[:4], fixes[piece.last.rank, piece.test], piece[4]) for piece in pieces}
    joined = {(part.test, part.fix) for part in parts if not part.flake}
    beside = set(rows.episodes_fixed_by(track, joined)) - touched
    before, after = touched | beside, set(_joined(parts | beside))
    # One that lost a commit and got another may look the same, but has other failures.
    changed = {episode for episode in touched if any(change.within(episode) for change in changes)}
    stay = before & after - changed
    if before != stay or after != stay:
        rows.replace_episodes(track, before - stay, after - stay)


def _change(shift: Shift) -> Change:
    sha, before, after = shift
    old, new = before or _NOWHERE, after or _NOWHERE
    stays = before is not None and after is not None and old.rank == new.rank
    already, still = (old, new) if stays else (_NOWHERE, _NOWHERE)
    return Change(
        sha,
        old=None if before is None else old.rank,
        ended=old.passed & ~still.passed,
        lost=(old.failed & ~still.failed) | (old.reviewed & ~still.reviewed),
        new=None if after is None else new.rank,
        passed=new.passed & ~already.passed,
        failed=new.failed & ~already.failed,
        reviewed=new.reviewed & ~already.reviewed,
    )


_NOWHERE = Point(0, 0, 0, 0)


def _touched(rows: Rows, track: Track, changes: Iterable[Change]) -> set[Episode]:
    """Return the episodes that lose a commit or their fix, and those before which a commit passes.

    No other episode changes but by joining one of these.
    """
    episodes: set[Episode] = set()
    for change in changes:
        if change.old is not None and change.ended:
            episodes.update(rows.episodes_fixed_at(track, change.old, change.ended))
        if change.old is not None and change.lost:
            episodes.update(rows.episodes_at(track, change.old, change.lost))
        if change.new is not None and change.passed:
            episodes.update(rows.episodes_at(track, change.new, change.passed))
    return episodes


def _left(rows: Rows, track: Track, episode: Episode, changes: Sequence[Change]) -> Iterator[Piece]:
    """Return what is left of an episode: all of it, if nothing changed between its ends."""
    within = {change.sha for change in changes if change.within(episode)}
    if not within:
        yield Piece(*episode[:4], episode.flake)
    elif not episode.flake:
        for member in rows.members(track, episode):
            if member.sha not in within:
                yield Piece(episode.test, member, member, 1, flake=False)


def _next_passes(
    rows: Rows, track: Track, waiting: Collection[tuple[int, int]]
) -> dict[tuple[int, int], Ranked]:
    """Find the first pass of each test after a rank, in one walk that ends with the last of them.

    So its cost depends on how late they are, not on the history.
    """
    passes = dict.fromkeys(waiting, UNFIXED)
    ahead = sorted(waiting, reverse=True)
    open_at: dict[int, list[int]] = defaultdict(list)
    open_tests = 0
    for commit, passed in rows.passes_after(track, ahead[-1][0]) if ahead else ():
        while ahead and ahead[-1][0] < commit.rank:
            rank, test = ahead.pop()
            open_at[test].append(rank)
            open_tests |= 1 << test
        for test in tests_in(open_tests & passed):
            passes.update(((rank, test), commit) for rank in open_at.pop(test))
        open_tests &= ~passed
        if not ahead and not open_tests:
            break
    return passes


def _added(change: Change) -> Iterator[Piece]:
    if change.new is not None:
        at = Ranked(change.new, change.sha)
        for flake, tests in ((False, change.failed), (True, change.reviewed)):
            for test in tests_in(tests):
                yield Piece(test, at, at, 1, flake)


def _joined(parts: Iterable[Episode]) -> Iterator[Episode]:
    """Join the parts of a test that the same commit fixed; a flake stays alone."""
    together: dict[tuple[object, ...], list[Episode]] = defaultdict(list)
    for part in parts:
        key = (part.test, part.fix, part.first if part.flake else None)
        together[key].append(part)
    for several in together.values():
        yield several[0]._replace(
            first=min(part.first for part in several),
            last=max(part.last for part in several),
            commits=sum(part.commits for part in several),
        )
