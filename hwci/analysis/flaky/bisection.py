# SPDX-License-Identifier: Apache-2.0
"""Which commit broke a test that may fail only now and then, and which runs tell most about it.

The commits after a good one, up to a bad one, stand in the order in which runs listed them. How
likely each is, the history of the test says (`suspects.py`), or where it does not, the runs on
these commits (`weighing.py`). This module decides which commits and runs count, and when there is
no answer. It starts no run and knows no repository.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from hwci.analysis.flaky.suspect_words import LIKELY, sure
from hwci.analysis.flaky.suspects import Intermittent, SeenProduct, Since
from hwci.analysis.flaky.weighing import (
    Bracket,
    ByBox,
    Counts,
    TellingRun,
    bracket_of,
    chances,
    contradict,
    most_telling,
)
from hwci.analysis.merges.merge_plan import BoxOffer, Offers
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns, RunOutcomes
from hwci.analysis.run_command import TO_FILL_IN, next_command, run_command
from hwci.contract.flaky import bisection as shapes
from hwci.contract.flaky.bisection import Bisected, Bisection, Candidate, NextRun
from hwci.contract.runs.commits import Commit
from hwci.contract.vocabulary import MissingCommit
from hwci.engine.facts import Product
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.engine.rules.walk import Walks
from hwci.said import counted, short

COMMITS_MAX = 500
BOXES_MAX = 20
"""So many boxes are thought of for the next runs: those that failed most, then the cheapest."""
_LEAST_BITS_SHARE = 0.05
"""A run beside the first is not worth its board if it tells less than this part of what the first
tells for its time.
"""


class Reason(NamedTuple):
    """What is missing as people read it, and what they do about it."""

    text: str
    to_do: str


MISSING = {
    MissingCommit.UNKNOWN_TEST: Reason(
        "No run of the period ran the test",
        "Write its id as in `hwci metrics`; name a longer period, or another box",
    ),
    MissingCommit.UNKNOWN_COMMIT: Reason(
        "No run of the period tested the good or the bad commit, or listed it among its changes",
        "Name commits that runs tested (`hwci runs list`), or a longer period",
    ),
    MissingCommit.SEVERAL_COMMITS: Reason(
        "More than one commit begins with these digits", "Write more digits of the commit"
    ),
    MissingCommit.NOT_CONNECTED: Reason(
        "No recorded changes lead from the good commit to the bad one",
        "Name an earlier commit as good and a later one as bad; between them, runs must have sent"
        " their changes",
    ),
    MissingCommit.CIRCLE: Reason(
        "Recorded changes lead from the good commit to the bad one, and back: their order is not"
        " known",
        "Name two commits of one branch that was not rebased between them",
    ),
    MissingCommit.TOO_LONG: Reason(
        f"More than {COMMITS_MAX} commits are between the good and the bad one",
        "Name commits that are closer",
    ),
    MissingCommit.NEVER_FAILED: Reason(
        "Not enough data: no run of the period failed the test on these commits",
        "Run the test on the bad commit until it fails once",
    ),
    MissingCommit.NEVER_PASSED: Reason(
        "Not enough data: no run of the period passed the test on these commits",
        "Run the test on the good commit until it passes once",
    ),
    MissingCommit.BROKEN_BEFORE: Reason(
        "The test fails on the good commit, too", "Name an earlier good commit"
    ),
    MissingCommit.CONTRADICTION: Reason(
        "Results contradict each other: the test did not begin to fail at one commit and go on",
        "Name a good and a bad commit around one change, or one box if it fails on one only",
    ),
    MissingCommit.NO_RANGE: Reason(
        "Not enough data to say between which commits it began to fail",
        "Name a commit on which it still worked, and a later one on which it failed",
    ),
    MissingCommit.BEFORE_PERIOD: Reason(
        "Its runs suggest that it failed before this period already",
        "Name a longer period, or a commit on which it still worked and one on which it failed",
    ),
    MissingCommit.FIXED: Reason(
        "Its runs say that it is fixed",
        "Name a commit on which it still worked and one on which it failed, to find what broke it",
    ),
}


class Asked(NamedTuple):
    """What is looked for. `good` and `bad` are commits or the first digits of them; both None: the
    ends of what the runs suggest. `box_key`: only runs of this box count. `at_once`: how many runs
    to propose, each on a box of its own. `flags`: those of the command that asks the same again,
    beside the test and the ends.
    """

    product: Product
    test_id: str
    good: str | None
    bad: str | None
    box_key: str | None = None
    at_once: int = 1
    flags: Mapping[str, object] = {}


class Ran(NamedTuple):
    """A run that tells something of the test, and whether its first attempt failed. `of_bench`: it
    tells nothing of the firmware.
    """

    run: RunOutcomes
    failed: bool
    of_bench: bool


def bisection(history: RecordedRuns, period: Period, question: Asked) -> Bisection:
    """Return how far the bisection of a test is, or why there is none."""
    known = progress(history, period, question)
    missing = known if isinstance(known, MissingCommit) else None
    text, to_do = (None, None) if missing is None else MISSING[missing]
    return Bisection(
        period=period,
        repo_key=question.product.repo_key,
        suite=question.product.suite,
        test_id=question.test_id,
        found=None if isinstance(known, MissingCommit) else known,
        missing=missing,
        missing_text=text,
        to_do=to_do,
    )


def progress(history: RecordedRuns, period: Period, question: Asked) -> Bisected | MissingCommit:
    """Return what is known of the commit that broke a test, or what is missing."""
    product = question.product
    outcomes = [
        replace(
            outcome, runs=[run for run in outcome.runs if question.box_key in {None, run.box_key}]
        )
        for outcome in history.outcomes(Scope(*product), period)
    ]
    seen = [SeenProduct(history, outcome) for outcome in outcomes if outcome.runs]
    rows = [row for of_product in seen for row in _ran(of_product, question.test_id)]
    if not rows:
        return MissingCommit.UNKNOWN_TEST
    [of_product] = seen
    suggested = of_product.suggested(question.test_id)
    ends = _ends(history, product.repo_key, outcomes, question, suggested)
    if isinstance(ends, MissingCommit):
        return ends
    good, bad = ends
    walks = Walks(history)
    commits = _between(walks, product.repo_key, good, bad)
    if not commits:
        return MissingCommit.NOT_CONNECTED
    if _between(walks, product.repo_key, bad, good):
        return MissingCommit.CIRCLE
    if len(commits) > COMMITS_MAX:
        return MissingCommit.TOO_LONG
    commits = [Commit(good, files_truncated=True), *commits]
    here = {commit.sha for commit in commits}
    runs = [row for row in rows if not row.of_bench and row.run.sha in here]
    since = None if isinstance(suggested, str) else suggested.since
    return _judged(commits, runs, since, Offers(outcomes).by_cost(product), question)


def _ran(product: SeenProduct, test_id: str) -> Iterator[Ran]:
    """Yield the runs that tell something of a test."""
    told, runs = product.trials.told(test_id), product.trials.found.runs
    for at, failed, of_bench in zip(told.run, told.failed, told.of_bench, strict=True):
        yield Ran(runs[at], bool(failed), bool(of_bench))


def _ends(
    history: RecordedRuns,
    repo_key: str,
    outcomes: Sequence[ProductOutcomes],
    question: Asked,
    suggested: Intermittent | str,
) -> tuple[str, str] | MissingCommit:
    """Return the good and the bad commit: those that are named, or that the runs suggest."""
    if question.good is None or question.bad is None:
        return _suggested(suggested)
    named = [_named(history, repo_key, outcomes, text) for text in (question.good, question.bad)]
    for shas in named:
        if len(shas) != 1:
            return MissingCommit.SEVERAL_COMMITS if shas else MissingCommit.UNKNOWN_COMMIT
    [good], [bad] = named
    return good, bad


def _suggested(suggestion: Intermittent | str) -> tuple[str, str] | MissingCommit:
    """Return between which commits a test became flaky, as far as its runs tell."""
    if isinstance(suggestion, str):
        return MissingCommit.NO_RANGE
    if suggestion.is_fixed:
        return MissingCommit.FIXED
    if suggestion.since.before >= LIKELY:
        return MissingCommit.BEFORE_PERIOD
    return suggestion.since.ends or MissingCommit.NO_RANGE


def _of_history(commits: Sequence[Commit], since: Since | None) -> list[float] | None:
    """Return the chance of each commit that the history of the test gives it. None: it gives none,
    is of another branch, or tells of a later time at which the test began to fail.
    """
    if since is None:
        return None
    good, bad = commits[0].sha, commits[-1].sha
    after_good, after_bad = since.after(good), since.after(bad)
    if after_good is None or after_bad is None or after_bad >= LIKELY:
        return None
    of_good = max(0.0, since.before + sum(since.chances.values()) - after_good)
    return [of_good, *(since.chances.get(commit.sha, 0.0) for commit in commits[1:])]


def _judged(
    commits: Sequence[Commit],
    runs: Sequence[Ran],
    since: Since | None,
    offers: Sequence[BoxOffer],
    question: Asked,
) -> Bisected | MissingCommit:
    by_commit = _counts(runs)
    by_box = [by_commit.get(commit.sha, {}) for commit in commits]
    counts = [*map(_sum, by_box)]
    if not any(count.failed for count in counts):
        return MissingCommit.NEVER_FAILED
    of_history = _of_history(commits, since)
    likely = of_history or chances(by_box)
    if counts[0].failed and (likely[0] >= LIKELY or not counts[0].passed):
        return MissingCommit.BROKEN_BEFORE
    if not any(count.passed for count in counts):
        return MissingCommit.NEVER_PASSED
    if contradict(by_box):
        return MissingCommit.CONTRADICTION
    bracket = bracket_of(likely)
    candidates = tuple(
        Candidate(
            sha=commit.sha,
            subject=commit.subject,
            failed=int(count.failed),
            runs=int(sum(count)),
            chance=chance,
        )
        for commit, count, chance in zip(commits, counts, likely, strict=True)
    )
    next_runs: tuple[NextRun, ...] = ()
    if bracket.first < bracket.last:
        next_runs = _next_runs(candidates, by_box, offers, runs[-1].run.branch, question.at_once)
    good, bad = question.good or commits[0].sha, question.bad or commits[-1].sha
    return Bisected(
        says=_says(candidates, bracket, of_history=of_history is not None)
        + _commit_or_bench(candidates, bracket, runs),
        commits=candidates,
        of_history=of_history is not None,
        bracket=shapes.Bracket(
            first=commits[bracket.first].sha,
            last=commits[bracket.last].sha,
            commits=bracket.last - bracket.first + 1,
            chance=bracket.chance,
        ),
        next_runs=next_runs,
        to_fill_in=TO_FILL_IN,
        then=next_command(question.product, question.test_id, good, bad, question.flags),
    )


def _next_runs(
    candidates: Sequence[Candidate],
    by_box: Sequence[ByBox],
    offers: Sequence[BoxOffer],
    branch: str,
    at_once: int,
) -> tuple[NextRun, ...]:
    """Return the runs to start at once."""
    of_box: dict[str, Counts] = defaultdict(Counts)
    for box_key, more in chain.from_iterable(on_commit.items() for on_commit in by_box):
        of_box[box_key] = of_box[box_key].plus(more)
    offers = sorted(offers, key=lambda offer: (-of_box[offer.box_key].failed, offer))[:BOXES_MAX]
    likely = [candidate.chance for candidate in candidates]
    named = {offer.box_key: offer for offer in offers}
    return tuple(
        _next_run(candidates[run.commit], branch, named[run.box], of_box[run.box])
        for run in _worth_it(by_box, likely, named, at_once)
    )


def _next_run(commit: Candidate, branch: str, offer: BoxOffer, seen: Counts) -> NextRun:
    """Return a run. `seen`: what the test gave on its box until now, on all of these commits."""
    return NextRun(
        sha=commit.sha,
        subject=commit.subject,
        branch=branch,
        box_key=offer.box_key,
        board_seconds=offer.seconds,
        runs_seen=offer.runs,
        failed=int(seen.failed),
        runs=int(sum(seen)),
        command=run_command(offer.product, offer.box_key, branch, commit.sha),
    )


def _says(commits: Sequence[Candidate], bracket: Bracket, *, of_history: bool) -> str:
    """Return in a sentence where the commit is, and how sure that is."""
    runs, failed = sum(commit.runs for commit in commits), sum(commit.failed for commit in commits)
    results = f"{failed} of {counted(runs, 'run')} on these commits failed"
    if not of_history:
        results += ", and they alone are weighed"
    first, last = commits[bracket.first], commits[bracket.last]
    subject = f" {first.subject}" if first.subject else ""
    where = f"{short(first.sha)}{subject}"
    if bracket.first < bracket.last:
        ends = f"from {short(first.sha)} to {short(last.sha)}"
        where = f"one of {bracket.last - bracket.first + 1} commits {ends}"
    return f"It began to fail in {where}{sure(bracket.chance)}: {results}."


def _commit_or_bench(commits: Sequence[Candidate], bracket: Bracket, runs: Sequence[Ran]) -> str:
    """Name the run that tells the commit from the bench, where one commit is found and one box
    alone failed, which did not run the commit before it since.
    """
    failing = [run for run, failed, _ in runs if failed]
    boxes = {run.box_key for run in failing}
    if bracket.first < bracket.last or not bracket.first or len(boxes) != 1:
        return ""
    [box] = boxes
    began, before = min(run.started_at for run in failing), commits[bracket.first - 1].sha
    if any(
        (run.box_key, run.sha) == (box, before) and run.started_at > began for run, _, _ in runs
    ):
        return ""
    again = f"test {short(before)} there again, to see whether the bench did it"
    return f" It failed on {box} alone: {again}."


def _worth_it(
    by_box: Sequence[ByBox], likely: Sequence[float], offers: Mapping[str, BoxOffer], at_once: int
) -> list[TellingRun]:
    """Return the runs to start at once that tell enough for their time."""
    seconds = {box_key: offer.seconds for box_key, offer in offers.items()}
    runs = most_telling(by_box, likely, seconds, at_once)
    worth = [run.bits / max(seconds[run.box], 1) for run in runs]
    return [
        run for run, bits in zip(runs, worth, strict=True) if bits >= _LEAST_BITS_SHARE * worth[0]
    ]


def _counts(runs: Sequence[Ran]) -> Mapping[str, ByBox]:
    counts: dict[str, dict[str, Counts]] = defaultdict(dict)
    for run, failed, _ in runs:
        of_commit = counts[run.sha]
        before = of_commit.get(run.box_key, Counts())
        of_commit[run.box_key] = before.plus(Counts(failed, not failed))
    return counts


def _sum(by_box: ByBox) -> Counts:
    return Counts(*map(sum, zip(*by_box.values(), strict=True)))


def _named(
    history: RecordedRuns, repo_key: str, outcomes: Sequence[ProductOutcomes], text: str
) -> set[str]:
    """Return the commits that a text may name: those that a run tested, or a whole one that a run
    sent among its changes.
    """
    tested = {run.sha for outcome in outcomes for run in outcome.runs if run.sha.startswith(text)}
    if text in tested:
        return {text}
    if tested:
        return tested
    is_listed = history.changes_listing(repo_key, text) or history.changes_based_on(repo_key, text)
    return {text} if is_listed else set()


def _between(walks: Walks, repo_key: str, good: str, bad: str) -> list[Commit]:
    """Return the commits after the good one; none if they are not connected. One that is listed
    twice counts at its last place.
    """
    steps = walks.between(repo_key, good, bad).steps or ()
    listed = [commit for step in steps for commit in step.commits if commit.sha != good]
    by_sha = {commit.sha: commit for commit in reversed(listed)}
    return [*by_sha.values()][::-1]
