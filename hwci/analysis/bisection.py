# SPDX-License-Identifier: Apache-2.0
"""Which commit broke a test that may fail only now and then, and which run tells most about it.

The commits after a good one, up to a bad one, stand in the order in which runs listed them. From
one of them on the test fails at some rate, before it hardly ever; neither rate is known. The
results of ordinary runs give each commit its chance, and the next run is the one that tells most
for each minute of a board (ADR 0073). This module starts no run and knows no repository.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from math import exp, lgamma, log, log2
from typing import NamedTuple

from hwci.analysis.certainty import SURE
from hwci.analysis.merge_plan import BoxOffer, Offers
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns, RunOutcomes
from hwci.engine.facts import Commit, Product
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.engine.rules.walk import Walks
from hwci.engine.vocabulary import Verdict

COMMITS_MAX = 500
_BEFORE = (0.5, 19.5)
_AFTER = (0.5, 0.5)
"""Priors of the two rates: as if so many runs had failed, and passed, before any was seen."""
_CONTRADICTION = 100
"""Results contradict each other if a rate for each commit explains them so many times better."""
_LIKELY = 0.5


class Lack(StrEnum):
    """Why there is no answer."""

    UNKNOWN_TEST = "unknown_test"
    UNKNOWN_COMMIT = "unknown_commit"
    SEVERAL_COMMITS = "several_commits"
    NOT_CONNECTED = "not_connected"
    TOO_LONG = "too_long"
    NEVER_FAILED = "never_failed"
    BROKEN_BEFORE = "broken_before"
    CONTRADICTION = "contradiction"


class Reason(NamedTuple):
    """A lack as people read it, and what they do about it."""

    text: str
    to_do: str


LACKS = {
    Lack.UNKNOWN_TEST: Reason(
        "No run of the period ran the test",
        "Write its id as in `hwci metrics`; name a longer period, or another box",
    ),
    Lack.UNKNOWN_COMMIT: Reason(
        "No run of the period tested the good or the bad commit, or listed it among its changes",
        "Name commits that runs tested (`hwci runs list`), or a longer period",
    ),
    Lack.SEVERAL_COMMITS: Reason(
        "More than one commit begins with these digits", "Write more digits of the commit"
    ),
    Lack.NOT_CONNECTED: Reason(
        "No recorded changes lead from the good commit to the bad one",
        "Name an earlier commit as good and a later one as bad; between them, runs must have sent"
        " their changes",
    ),
    Lack.TOO_LONG: Reason(
        f"More than {COMMITS_MAX} commits are between the good and the bad one",
        "Name commits that are closer",
    ),
    Lack.NEVER_FAILED: Reason(
        "Not enough data: no run of the period failed the test on these commits",
        "Run the test on the bad commit until it fails once",
    ),
    Lack.BROKEN_BEFORE: Reason(
        "The test fails on the good commit, too", "Name an earlier good commit"
    ),
    Lack.CONTRADICTION: Reason(
        "Results contradict each other: the test did not begin to fail at one commit and go on",
        "Name a good and a bad commit around one change, or one box if it fails on one only",
    ),
}


class Counts(NamedTuple):
    """Runs of the test on a commit, by their first attempt."""

    failed: int = 0
    passed: int = 0


@dataclass(frozen=True, slots=True)
class Bracket:
    """The fewest neighbouring commits that hold the one with 95 %, by their numbers."""

    first: int
    last: int
    chance: float


class NextRun(NamedTuple):
    """The run that tells most for its time. `bits`: how much that is; one bit halves the range."""

    commit: int
    branch: str
    offer: BoxOffer
    bits: float


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a bisection is. `commits`: the good one, then all up to the bad one; of each its
    counts, and the chance that the test fails since it; of the good one, since then or before.
    `next_run`: None once one commit is left, or where no box can be proposed.
    """

    commits: Sequence[Commit]
    counts: Sequence[Counts]
    chances: Sequence[float]
    bracket: Bracket
    next_run: NextRun | None


class Asked(NamedTuple):
    """What is looked for. `good` and `bad` are commits or the first digits of them. `box_key`: only
    runs of this box count.
    """

    test_id: str
    good: str
    bad: str
    box_key: str | None = None


def progress(
    history: RecordedRuns, product: Product, period: Period, asked: Asked
) -> Progress | Lack:
    """Return what is known of the commit that broke a test, or what is missing."""
    found = [
        replace(one, runs=[run for run in one.runs if asked.box_key in {None, run.box_key}])
        for one in history.outcomes(Scope(*product), period)
    ]
    runs = [*_runs_of(found, asked.test_id)]
    if not runs:
        return Lack.UNKNOWN_TEST
    ends = [_commit(history, product.repo_key, found, text) for text in (asked.good, asked.bad)]
    lack = next((one for one in ends if isinstance(one, Lack)), None)
    if lack is not None:
        return lack
    commits = _between(history, product.repo_key, *map(str, ends))
    if not commits:
        return Lack.NOT_CONNECTED
    if len(commits) > COMMITS_MAX:
        return Lack.TOO_LONG
    return _judged([Commit(str(ends[0]), files_truncated=True), *commits], runs, found)


class _Result(NamedTuple):
    """A run of the test, and whether its first attempt failed."""

    run: RunOutcomes
    failed: bool


def _judged(
    commits: Sequence[Commit], runs: Sequence[_Result], found: Sequence[ProductOutcomes]
) -> Progress | Lack:
    here = {one.sha for one in commits}
    runs = [one for one in runs if one.run.sha in here]
    by_commit = _counts(runs)
    counts = [by_commit.get(one.sha, Counts()) for one in commits]
    if not any(one.failed for one in counts):
        return Lack.NEVER_FAILED
    likely = chances(counts)
    if counts[0].failed and likely[0] >= _LIKELY:
        return Lack.BROKEN_BEFORE
    if contradict(counts):
        return Lack.CONTRADICTION
    bracket = bracket_of(likely)
    next_run, offer = None, Offers(found).of(found[0].product)
    if bracket.first < bracket.last and offer is not None:
        commit, bits = most_telling(counts, likely)
        next_run = NextRun(commit, runs[-1].run.branch, offer, bits)
    return Progress(commits, counts, likely, bracket, next_run)


def _runs_of(found: Sequence[ProductOutcomes], test_id: str) -> Iterator[_Result]:
    """Yield the runs of the test by start. What the harness blames on the bench tells nothing."""
    for one in found:
        number = one.number_of(test_id)
        for run in one.runs:
            if number is None or not run.hello_ok or not run.ran >> number & 1:
                continue
            result = run.notable.get(number)
            if result is None or result.verdict is not Verdict.INFRA:
                yield _Result(run, failed=result is not None)


def _counts(runs: Sequence[_Result]) -> Mapping[str, Counts]:
    counts: dict[str, Counts] = {}
    for run, has_failed in runs:
        failed, passed = counts.get(run.sha, Counts())
        counts[run.sha] = Counts(failed + has_failed, passed + (not has_failed))
    return counts


def _commit(
    history: RecordedRuns, repo_key: str, found: Sequence[ProductOutcomes], text: str
) -> str | Lack:
    """Return the commit that a text names: one that a run tested, or a whole one that a run sent
    among its changes.
    """
    tested = {run.sha for one in found for run in one.runs if run.sha.startswith(text)}
    if text in tested:
        return text
    if len(tested) > 1:
        return Lack.SEVERAL_COMMITS
    if tested:
        return tested.pop()
    is_listed = history.changes_listing(repo_key, text) or history.changes_based_on(repo_key, text)
    return text if is_listed else Lack.UNKNOWN_COMMIT


def _between(history: RecordedRuns, repo_key: str, good: str, bad: str) -> list[Commit]:
    """Return the commits after the good one; none if they are not connected. One that is listed
    twice counts at its last place.
    """
    steps = Walks(history).between(repo_key, good, bad).steps or ()
    listed = [one for step in steps for one in step.commits]
    return [*{one.sha: one for one in reversed(listed) if one.sha != good}.values()][::-1]


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _log_chance(counts: Counts, prior: tuple[float, float]) -> float:
    """Return the logarithm of the chance of these results in their order."""
    failed, passed = prior
    return _log_beta(failed + counts.failed, passed + counts.passed) - _log_beta(failed, passed)


def _sides(counts: Sequence[Counts]) -> Iterator[tuple[Counts, Counts]]:
    """Yield for each commit what was counted before it, and from it on."""
    failed, passed = sum(one.failed for one in counts), sum(one.passed for one in counts)
    before = Counts()
    for one in counts:
        yield before, Counts(failed - before.failed, passed - before.passed)
        before = Counts(before.failed + one.failed, before.passed + one.passed)


def _log_chances(counts: Sequence[Counts]) -> list[float]:
    return [
        _log_chance(before, _BEFORE) + _log_chance(after, _AFTER)
        for before, after in _sides(counts)
    ]


def chances(counts: Sequence[Counts]) -> list[float]:
    """Return the chance of each commit that the test fails since it. Before any run all have the
    same, the good one too: who calls it good may be wrong.
    """
    logs = _log_chances(counts)
    likely = [exp(one - max(logs)) for one in logs]
    return [one / sum(likely) for one in likely]


def contradict(counts: Sequence[Counts]) -> bool:
    """Return whether a rate for each commit explains the counts far better than two rates do."""
    logs = _log_chances(counts)
    two = max(logs) + log(sum(exp(one - max(logs)) for one in logs) / len(logs))
    each = sum(_log_chance(one, _AFTER) for one in counts)
    return each - two > log(_CONTRADICTION)


def bracket_of(likely: Sequence[float]) -> Bracket:
    """Return the fewest neighbouring commits that hold 95 %, of these the likeliest."""
    best, first, held = Bracket(0, len(likely) - 1, 1.0), 0, 0.0
    for last, chance in enumerate(likely):
        held += chance
        while first < last and held - likely[first] >= SURE:
            held -= likely[first]
            first += 1
        if held >= SURE:
            best = min(best, Bracket(first, last, held), key=_size)
    return best


def _size(one: Bracket) -> tuple[int, float]:
    return one.last - one.first, -one.chance


def most_telling(counts: Sequence[Counts], likely: Sequence[float]) -> tuple[int, float]:
    """Return the commit whose run is expected to tell most, and how many bits.

    A run there fails at the higher rate if the test fails since that commit or one before it. For
    each way a run may end, the terms of the entropy that is left are summed from both ends.
    """
    before = [_rate(left, _BEFORE) for left, _ in _sides(counts)]
    after = [_rate(right, _AFTER) for _, right in _sides(counts)]
    fails = _Branch(
        [one * rate for one, rate in zip(likely, after, strict=True)],
        [one * rate for one, rate in zip(likely, before, strict=True)],
    )
    passes = _Branch(
        [one * (1 - rate) for one, rate in zip(likely, after, strict=True)],
        [one * (1 - rate) for one, rate in zip(likely, before, strict=True)],
    )
    left = [fails.uncertainty(at) + passes.uncertainty(at) for at in range(len(likely))]
    best = min(range(len(left)), key=left.__getitem__)
    return best, -sum(map(_times_log, likely)) - left[best]


def _rate(counts: Counts, prior: tuple[float, float]) -> float:
    return (prior[0] + counts.failed) / (sum(prior) + sum(counts))


class _Branch:
    """One way a run may end: the chance of it together with each commit, where the test fails at
    the run's commit already, and where it does not yet.
    """

    def __init__(self, broken: Sequence[float], clean: Sequence[float]) -> None:
        self._broken, self._clean = _upto(broken), _upto(clean)
        self._broken_logs = _upto([*map(_times_log, broken)])
        self._clean_logs = _upto([*map(_times_log, clean)])

    def uncertainty(self, at: int) -> float:
        """Return what is left to know after a run at a commit ends so, times the chance of it."""
        total = self._broken[at] + self._clean[-1] - self._clean[at]
        logs = self._broken_logs[at] + self._clean_logs[-1] - self._clean_logs[at]
        return _times_log(total) - logs


def _upto(values: Sequence[float]) -> list[float]:
    return [*accumulate(values)]


def _times_log(chance: float) -> float:
    return chance * log2(chance) if chance > 0 else 0.0
