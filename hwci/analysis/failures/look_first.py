# SPDX-License-Identifier: Apache-2.0
"""Where to look first at what still fails, the commit or the bench: one sentence, which the rows of
what fails now, the page of a test and that of its failure, and the terminal show alike.

This module decides which of them is named, or which run would decide it. No report tells what
hardware a box has, so a commit that breaks one box alone looks as a bench does that broke at the
same time. Which failures are one incident is decided in `incidents.py`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from hwci.contract.runs.commits import Commit
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.said import counted, day, joined, short

RUNS_MIN = 3
"""What failed in fewer runs may be a flake."""
NO_BENCH = "No bench stands out"
"""Failures on several boxes speak for the firmware."""
NAMED = 2
"""So many boxes are named; more are counted."""


class PassedBefore(NamedTuple):
    """The last commit before the failures on which it passed. `since`: how the last run there ended
    that its box made after the first failure; None: there is none.
    """

    sha: str
    since: Outcome | None


class Evidence(NamedTuple):
    """What is known of failures with one cause that are pending. `box`: where it failed first, on
    the commits from `first` to `last`; `before`: there, None if unknown. `boxes`: all on which it
    fails; `is_elsewhere`: it passes on others on the same commits. `runs`: in so many runs on one
    box one test of it failed, at most, without those that had lost their board before it.
    `lost_at`: the tests at which all runs lost their board, if they did. `suspects`: the commits
    that may have broken it; None if unknown. `passes_on_branch`: that to which the first commit was
    merged, if all tests passed in their last runs there; None: it was not merged, or they did not.
    """

    box: str
    boxes: Sequence[str]
    is_elsewhere: bool
    verdicts: frozenset[Verdict]
    runs: int
    lost_at: Sequence[str]
    suspects: Sequence[Commit] | None
    first: str
    last: str
    before: PassedBefore | None
    passes_on_branch: str | None
    fix: str | None
    not_seen: Mapping[str, datetime]


def look_first(known: Evidence) -> str:
    """Return in words where to look first, or which run would tell."""
    box, commits = known.box, _commits(known)
    if known.passes_on_branch is not None:
        return f"Nothing to look at: it was merged to {known.passes_on_branch}, and passes there"
    if known.fix is not None and known.not_seen:
        return _not_seen(known.fix, known.not_seen)
    if known.lost_at:
        return _lost(known)
    if known.verdicts == {Verdict.INFRA}:
        return f"The harness blames the bench: {_of_bench(known)}"
    if len(known.boxes) > 1 and not known.is_elsewhere:
        return f"{NO_BENCH}: look at {commits or 'the firmware and the test'} first"
    if known.runs < RUNS_MIN:
        return f"Test commit {short(known.last)} on {box} again: if it passes there, it is a flake"
    return _commit_or_bench(known, box, commits)


def _lost(known: Evidence) -> str:
    at = f"The board was lost at {joined(known.lost_at)}, and what fails after says little"
    return f"{at}: test commit {short(known.last)} on {known.box} again"


def _not_seen(fix: str, boxes: Mapping[str, datetime]) -> str:
    since = f"{named([*boxes])} since {day(max(boxes.values()))}"
    return f"Passes elsewhere since {short(fix)}, not run on {since}: test it there"


def _commit_or_bench(known: Evidence, box: str, commits: str | None) -> str:
    if known.before is None:
        return _deciding(f"a commit from before {short(known.first)} on {box}", known)
    sha = short(known.before.sha)
    if known.before.since is Outcome.PASS:
        return f"Look at {commits or _up_to(known)} first: {sha} passed on {box} since then"
    if known.before.since is Outcome.FAIL:
        return f"Look at {box} first: {sha} passed there before, and fails now"
    return _deciding(f"commit {sha} (the last pass) on {box} again", known)


def _of_bench(known: Evidence) -> str:
    if known.runs >= RUNS_MIN:
        return f"look at {named(known.boxes)} first"
    return f"test commit {short(known.last)} on {known.box} again, to see whether it still fails"


def _deciding(run: str, known: Evidence) -> str:
    # A single one is named beside.
    is_single = known.suspects is not None and len(known.suspects) == 1
    suspects = "the commit" if is_single else _commits(known) or _up_to(known)
    return f"Commit or bench? Test {run}: if it passes, suspect {suspects}"


def _up_to(known: Evidence) -> str:
    return f"the commits up to {short(known.first)}"


def named(boxes: Sequence[str]) -> str:
    """Name boxes, or say how many they are."""
    return f"{len(boxes):,} boxes" if len(boxes) > NAMED else joined(boxes)


def _commits(known: Evidence) -> str | None:
    """Name the commits that may have broken it; None: they are not known."""
    if known.suspects is None:
        return None
    if len(known.suspects) == 1:
        return short(known.suspects[0].sha)
    # What it is stands there: a page names one commit beside, by the history of the test.
    return f"the {counted(len(known.suspects), 'firmware commit')} of its first failing run"
