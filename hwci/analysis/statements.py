# SPDX-License-Identifier: Apache-2.0
"""What is claimed of a test, as data: which claim, of which boxes, how sure, from which counts.

Every page makes its sentences about a test from this statement (`statement_words.py`), so no two
contradict each other. `CLAIMS` is the order of precedence (semantics, 14): the first claim that
holds is made. Since when and how sure is decided in `flaky/suspects.py`, which boxes explain the
failures in `benches/blame.py`, what still fails in `rules/labels.py`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from hwci.analysis.benches.blame import Blame, Blamed
from hwci.analysis.benches.trials import Earlier, Side, box_of
from hwci.analysis.failures.incidents import Described
from hwci.analysis.failures.look_first import NO_BENCH, named
from hwci.analysis.flaky.suspects import (
    FAILURES_NEEDED,
    NEVER_PASSED,
    RUNS_NEEDED,
    Intermittent,
    Suspect,
    Tried,
    culprits,
)
from hwci.contract.boxes.benches import Note
from hwci.contract.statements import Statement
from hwci.contract.vocabulary import Claim
from hwci.engine.rules.labels import Group

IN_A_ROW = 3
"""A test that failed on so many commits of one box without a pass fails; on fewer it may be flaky.
"""


class Failing(NamedTuple):
    """Where a test fails now: on so many commits of a branch, without a pass since. `in_a_row`: the
    most on one box.
    """

    branch: str
    boxes: Sequence[str]
    commits: int
    in_a_row: int
    sha: str
    since: datetime


class Known(NamedTuple):
    """What is known of a test: how its runs went, where it fails now, what its runs suggest or what
    is missing for that, and which boxes explain its failures. `look_first`: what is said of the
    incidents that it fails in now. `notes`: the latest one of each box that has any.
    """

    tried: Tried
    failing: Failing | None
    found: Intermittent | str
    blame: Blame[Side] | None
    look_first: Sequence[str] = ()
    notes: Mapping[str, Note] = {}

    @property
    def unseen(self) -> Mapping[str, datetime]:
        """The boxes that matter, if they are gone, each with its last run: all on which it fails
        now; or all to blame, or on which it failed, unless all passed last; or those that
        keep it from being fixed. Where one that still runs fails, that is said instead.
        """
        gone, suggestion = self.tried.gone, self.found
        if self.failing is not None:
            boxes = {*self.failing.boxes}
        elif isinstance(suggestion, str):
            failed_on = {*self.tried.failed_on} if self.tried.failed_last else set()
            boxes = {*culprits(self.blame)} or failed_on
        else:
            boxes = {*(suggestion.judged_on or suggestion.failed_on)}
            if suggestion.would_be_fixed:
                boxes &= gone.keys()
        return {box: gone[box] for box in sorted(boxes)} if boxes <= gone.keys() else {}

    @property
    def fails_steadily(self) -> bool:
        """Whether it fails now as a broken test does, not as a flaky one."""
        if self.failing is None:
            return False
        to_blame = {*culprits(self.blame)}
        is_broken = not to_blame if isinstance(self.found, str) else self.found.broken
        is_elsewhere = to_blame and len({*self.failing.boxes} - to_blame) > 1
        return is_broken or self.failing.in_a_row >= IN_A_ROW or bool(is_elsewhere)

    @property
    def suggested(self) -> Intermittent:
        """What its runs suggest, where they do."""
        if isinstance(self.found, str):
            raise TypeError(self.found)
        return self.found

    @property
    def is_blamed_before_its_note(self) -> bool:
        """Whether the one box to blame failed before something was done to it."""
        blamed = self.blame is not None and self.blame.blamed is Blamed.ONE
        return blamed and self.blame is not None and isinstance(self.blame.boxes[0], Earlier)

    def is_blamed(self, blamed: Blamed) -> bool:
        """Whether this explains the failures."""
        return self.blame is not None and self.blame.blamed is blamed


def _is_broken(known: Known) -> bool:
    suggestion = known.found
    if isinstance(suggestion, str):
        return suggestion == NEVER_PASSED
    return suggestion.broken and not suggestion.would_be_fixed


def _is_steady(known: Known) -> bool:
    """Whether it never failed but once or twice by the bench, and no box fails it more than others:
    what a bench fails oftener is no steady test there.
    """
    tried = known.tried
    never = tried.failed == tried.of_bench <= FAILURES_NEEDED and not culprits(known.blame)
    return never and known.failing is None and tried.runs - tried.of_bench >= RUNS_NEEDED


def _is_fixed(known: Known) -> bool:
    fixed = not isinstance(known.found, str) and known.found.is_fixed
    return fixed and known.failing is None


def _lost_its_board(known: Known) -> bool:
    """Whether it loses the board beyond chance, or never failed otherwise."""
    lost = len(known.tried.lost_here)
    return known.tried.is_lost_here or (lost > 0 and known.tried.failed == lost)


CLAIMS: Mapping[Claim, Callable[[Known], bool]] = {
    Claim.NO_RUN: lambda known: not known.tried.runs,
    Claim.NOT_SEEN: lambda known: bool(known.unseen),
    Claim.FAILS_NOW: lambda known: known.fails_steadily,
    Claim.BROKEN: _is_broken,
    Claim.LOST_BOARD: _lost_its_board,
    Claim.STEADY: _is_steady,
    Claim.FIXED: _is_fixed,
    Claim.MENDED: lambda known: known.is_blamed_before_its_note,
    Claim.ONE_BOX: lambda known: known.is_blamed(Blamed.ONE),
    Claim.GROUP: lambda known: known.is_blamed(Blamed.GROUP),
    Claim.TOO_FEW: lambda known: isinstance(known.found, str),
    Claim.ALIKE: lambda known: known.is_blamed(Blamed.ALIKE),
    Claim.ONLY_BOX: lambda known: len(known.tried.boxes) == 1,
    Claim.FLAKY: lambda _: True,
}
"""Each claim with what it takes, in the order of precedence."""


def statement_of(known: Known) -> Statement:
    """Return the first claim that holds of a test."""
    claim = next(claim for claim, holds in CLAIMS.items() if holds(known))
    tried, blame, suggestion = known.tried, known.blame, known.found
    boxes, chance, since = tried.boxes, None, None
    if claim is Claim.FAILS_NOW and known.failing is not None:
        boxes, since = known.failing.boxes, known.failing.since
    elif claim is Claim.LOST_BOARD:
        boxes = sorted({run.box_key for run in tried.lost_here})
    elif claim is Claim.NOT_SEEN:
        boxes, since = [*known.unseen], tried.last_run_of(known.unseen)
    elif claim in {Claim.FIXED, Claim.BROKEN} and not isinstance(suggestion, str):
        boxes = sorted(suggestion.judged_on or suggestion.failed_on)
        if claim is Claim.FIXED and not suggestion.broken:
            chance = suggestion.fixed.chance
    if claim not in OF_BOXES or blame is None:
        return Statement(
            claim=claim,
            boxes=tuple(boxes),
            others=(),
            chance=chance,
            failed=tried.failed,
            runs=tried.runs,
            others_failed=0,
            others_runs=0,
            since=since,
            lost_here=len(tried.lost_here),
        )
    return Statement(
        claim=claim,
        boxes=tuple(map(box_of, blame.boxes or blame.others)),
        others=tuple(map(box_of, blame.others)) if blame.boxes else (),
        chance={Blamed.ONE: blame.one, Blamed.GROUP: blame.group}.get(blame.blamed, blame.alike),
        failed=blame.counts.failed,
        runs=blame.counts.runs,
        others_failed=blame.others_counts.failed,
        others_runs=blame.others_counts.runs,
        since=None,
        lost_here=len(tried.lost_here),
    )


OF_BOXES = {Claim.MENDED, Claim.ONE_BOX, Claim.GROUP, Claim.ALIKE}
"""The claims that say which boxes explain the failures."""


def known_of_row(row: Suspect, incidents: Iterable[Described] = ()) -> Known:
    """Return what is known of a row of "Flakiest tests"."""
    suggestion = row.found or row.missing or ""
    return known_of(row.tried, row.pending, suggestion, row.blame, incidents, row.notes)


def known_of(
    tried: Tried,
    pending: Sequence[Group],
    suggestion: Intermittent | str,
    blame: Blame[Side] | None,
    incidents: Iterable[Described] = (),
    notes: Mapping[str, Note] | None = None,
) -> Known:
    """Return what is known of a test. `pending`: its failures that are; `incidents`: which have
    these. What runs suggest is of one branch, so a failure on another one is left out beside it; so
    is one on a box that is gone, beside those on boxes that still run it, and one behind a lost
    board, which the rules count.
    """
    branch = None if isinstance(suggestion, str) else suggestion.since.branch
    told = [
        group
        for group in pending
        if not all(failure.key in tried.behind_loss for failure in group.failures)
    ]
    still = [group for group in told if group.first.key.lane.box_key not in tried.gone]
    failing = fails_on(still or told, branch) if tried.failed else None
    look_first = () if failing is None else look_first_at(failing, told, incidents)
    return Known(tried, failing, suggestion, blame, look_first, notes or {})


def look_first_at(
    failing: Failing, pending: Sequence[Group], incidents: Iterable[Described]
) -> Sequence[str]:
    """Return what is said of the incident on the branch where a test fails now, and on which other
    boxes tests fail with it; where this one fails on a single box, that is why to look at commits.
    An incident that began on a box where this test does not fail says nothing of it, and two say
    two things. `pending`: the failures of the test.
    """
    tests = {group.first.key.lane.test_id for group in pending}
    sentences = {
        _of_incident(described.look_first, described, failing, tests)
        for described in incidents
        if described.look_first
        and described.incident.lane.branch == failing.branch
        and described.incident.lane.box_key in failing.boxes
    }
    return [*sentences] if len(sentences) == 1 else []


def _of_incident(
    sentence: str, described: Described, failing: Failing, tests: Collection[str]
) -> str:
    others = {
        failed.key.lane.box_key
        for failed in described.incident.failed
        if failed.key.lane.test_id not in tests
    }
    elsewhere = sorted(others - {*failing.boxes})
    if not elsewhere:
        return sentence
    reason = f"Other tests began to fail with it, on {named(elsewhere)} too"
    if len(failing.boxes) == 1 and sentence.startswith(NO_BENCH):
        return sentence.replace(NO_BENCH, reason)
    return f"{sentence}. {reason}"


def fails_on(pending: Sequence[Group], branch: str | None = None) -> Failing | None:
    """Return where a test fails now on a branch; None: on that which failed last."""
    if not pending:
        return None
    last = max(pending, key=lambda group: group.last.last_started_at).first.key.lane
    branch = branch or last.branch
    groups = [group for group in pending if group.first.key.lane.branch == branch]
    if not groups:
        return None
    first = min((group.first for group in groups), key=lambda failure: failure.place)
    return Failing(
        branch=branch,
        boxes=sorted({group.first.key.lane.box_key for group in groups}),
        commits=len({failure.key.sha for group in groups for failure in group.failures}),
        in_a_row=max(len(group.failures) for group in groups),
        sha=first.key.sha,
        since=first.first.started_at,
    )
