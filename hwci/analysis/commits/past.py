# SPDX-License-Identifier: Apache-2.0
"""How one test fared before a change on each box: where it was broken, and on which boxes its
failures are apart from those of the others.

Firmware is compared by the commits up to that from which the change began; a box also by what ran
on it later, before the change, for it may have gone bad meanwhile. This module knows no result of
the change.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import NamedTuple

from hwci.analysis.benches.blame import Blame, Blamed
from hwci.analysis.benches.trials import Side
from hwci.analysis.certainty import SURE
from hwci.analysis.commits.before import Before, Ran, Tries, before, is_failed, tries_of
from hwci.analysis.commits.change import Change
from hwci.analysis.commits.odds import OnBox, Seen
from hwci.analysis.outcomes import RunOutcomes
from hwci.contract.vocabulary import Verdict

SEEN_FOR = timedelta(days=30)
"""A box that passed a test so long before the change, or later, passed it lately."""


class Box(NamedTuple):
    """A box at the commit, and how the test fared `before` on it or on those that are alike.
    `failed`: a run did, retries too. `is_alone`: it is to blame alone; `in_group`: with others.
    """

    box_key: str
    failed: bool
    on: OnBox
    before: Before
    is_alone: bool
    in_group: bool


class Past:
    """The runs of a test on commits of the base branch, in the order of reports. `blame`: which
    boxes explain its failures.
    """

    def __init__(self, change: Change, runs: Sequence[Ran], blame: Blame[Side] | None) -> None:
        self._change = change
        self._on_base = [row for row in runs if change.is_on_base(row.run)]
        self._below = self._in_place(row for row in self._on_base if change.is_below(row.run))
        self._earlier = [
            row for row in self._on_base if change.is_below(row.run) or change.is_earlier(row.run)
        ]
        is_said = blame is not None and blame.blamed in {Blamed.ONE, Blamed.GROUP}
        self._bad = {*blame.boxes} if blame is not None and is_said else set()

    def _in_place(self, rows: Iterable[Ran]) -> list[Ran]:
        places = self._change.places
        return sorted(rows, key=lambda row: (places[row.run.sha], row.run.started_at))

    @cached_property
    def good(self) -> Before:
        """How it fared on all boxes that are not to blame."""
        return before([row for row in self._below if row.run.box_key not in self._bad])

    @cached_property
    def bad(self) -> Before:
        """How it fared on the boxes to blame."""
        return before([row for row in self._below if row.run.box_key in self._bad])

    @cached_property
    def _own_below(self) -> Mapping[str, Before]:
        return {box: before(rows) for box, rows in _by_box(self._below).items()}

    @cached_property
    def _own(self) -> Mapping[str, Before]:
        return {box: before(rows) for box, rows in _by_box(self._earlier).items()}

    def passes_again(self, since: RunOutcomes) -> bool:
        """Whether it passes now on the base branch, on the boxes on which it failed since a run."""
        rows = self._in_place(self._on_base)
        later = rows[next(at for at, row in enumerate(rows) if row.run is since) :]
        failed_on = {row.run.box_key for row in later if is_failed(row)}
        *_, last = (row for row in later if row.run.box_key in failed_on)
        return not is_failed(last)

    def box(self, box_key: str, here: Sequence[Ran]) -> Box:
        """Return what is known of a box with these runs of the commit."""
        is_bad, own = box_key in self._bad, self._own.get(box_key, _NOTHING)
        side = self.bad if is_bad else self.good
        below = max(side, self._own_below.get(box_key, _NOTHING), key=_broken)
        is_broken_alone = own.broken >= SURE and self._passes_elsewhere(box_key, own)
        was_broken = below.broken >= SURE or is_broken_alone
        verdicts = {row.result.verdict for row in here if row.result and is_failed(row)}
        on = OnBox(
            tries=tries_of(here),
            is_bad=is_bad,
            was_broken=was_broken,
            seen=self._seen(box_key),
            blames_bench=verdicts == {Verdict.INFRA},
        )
        fared = own if is_broken_alone else below if below.broken >= SURE else side
        in_group = is_bad and len(self._bad) > 1
        is_alone = is_broken_alone or (is_bad and not in_group)
        return Box(box_key, bool(verdicts), on, fared, is_alone, in_group)

    def _passes_elsewhere(self, box_key: str, own: Before) -> bool:
        """Whether other boxes passed it since it is broken on this one, and it is broken on none
        of them.
        """
        if own.since is None:
            return False
        others = {box: fared for box, fared in self._own.items() if box != box_key}
        return not any(fared.broken >= SURE for fared in others.values()) and any(
            row.run.box_key in others
            and row.run.started_at >= own.since.started_at
            and not is_failed(row)
            for row in self._earlier
        )

    def _seen(self, box_key: str) -> Seen:
        began = self._change.began
        passed = [
            row.run.started_at
            for row in self._earlier
            if row.run.box_key == box_key and not is_failed(row)
        ]
        last = max(passed, default=None)
        if last is None or last < began - SEEN_FOR:
            return Seen.NOT
        return Seen.LATELY if last < began else Seen.SINCE


_NOTHING = Before(Tries())


def _broken(fared: Before) -> float:
    return fared.broken


def _by_box(rows: Iterable[Ran]) -> Mapping[str, Sequence[Ran]]:
    by_box: dict[str, list[Ran]] = defaultdict(list)
    for row in rows:
        by_box[row.run.box_key].append(row)
    return by_box
