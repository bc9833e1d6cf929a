# SPDX-License-Identifier: Apache-2.0
"""The model of a bisection: since which commit a test fails, which runs tell most about it, and how
many it takes (ADR 0011).

From one commit of a range on the test fails at some rate, before it hardly ever. Either all boxes
have one rate or each its own, and no rate is known. This module knows results by their place in the
range and by their box. It knows no commit, no test and no clock. numpy is imported when it is
asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log, log1p
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hwci.analysis.certainty import RUNS_MAX, SURE, log_beta
from hwci.contract.flaky.suspects import Effort
from hwci.contract.limits import AT_ONCE_MAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.analysis.benches.blame import Numbers

Value = TypeVar("Value")

_BEFORE = (1.0, 39.0)
_AFTER = (0.5, 0.5)
"""Priors of the two rates: as if so many runs had failed, and passed, before any was seen. Before
the commit a test that never fails is no likelier than one that fails one run in a hundred.
"""
_CONTRADICTION = 100
"""Results contradict each other if a rate for each commit explains them so many times better."""
_UNLIKELY = 0.01
"""Ways for the runs of a round to end that are less likely do not count for its next run."""
_COARSE = 8
"""An estimate steps on by an eighth of the rounds so far, and is wrong by a step at most."""


class Counts(NamedTuple):
    """Runs of the test on a commit, by their first attempt. An estimate has parts of runs."""

    failed: float = 0
    passed: float = 0

    def plus(self, other: Counts, times: float = 1) -> Counts:
        """Return the sum of this one and so many times the other."""
        return Counts(self.failed + times * other.failed, self.passed + times * other.passed)


ByBox = Mapping[str, Counts]


@dataclass(frozen=True, slots=True)
class Bracket:
    """The fewest neighbouring commits that hold the one with 95 %, by their numbers. `chance`: the
    sum of theirs.
    """

    first: int
    last: int
    chance: float


class TellingRun(NamedTuple):
    """A run on a commit, by its number. `bits`: how much it tells; one bit halves the range."""

    commit: int
    box: str
    bits: float


class _Side:
    """The results before a commit, or from it on. `alike` and `each`: the logarithms of the chance
    of them in their order, with one rate for all boxes, and with one for each.
    """

    def __init__(self, prior: tuple[float, float]) -> None:
        self._prior, self._of_prior = prior, log_beta(*prior)
        self._all = Counts()
        self._of: dict[str, Counts] = {}
        self._log_of: dict[str, float] = {}
        self.alike = self.each = 0.0

    def add(self, counts: ByBox, times: int = 1) -> None:
        """Take in the results on a commit, or leave them out (-1 times)."""
        for box, more in counts.items():
            now = self._of[box] = self._of.get(box, Counts()).plus(more, times)
            before = self._log_of.get(box, 0.0)
            self._log_of[box] = self._log_chance(now)
            self.each += self._log_of[box] - before
            self._all = self._all.plus(more, times)
        if counts:
            self.alike = self._log_chance(self._all)

    def _log_chance(self, counts: Counts) -> float:
        failed, passed = self._prior
        return log_beta(failed + counts.failed, passed + counts.passed) - self._of_prior

    def log_chance(self) -> float:
        """Return the logarithm of the chance of these results. One rate for all boxes is as likely
        before any run as one for each.
        """
        return max(self.alike, self.each) + log1p(exp(-abs(self.alike - self.each))) - log(2)

    def chance_alike(self) -> float:
        """Return the chance that all boxes have one rate, against a rate for each."""
        return 1 / (1 + exp(min(self.each - self.alike, 700.0)))

    def rates(self, boxes: Sequence[str]) -> list[float]:
        """Return the chance of each box that a run fails there: the common one or its own, as
        these explain the results. With few runs its own is near the common one.
        """
        failed, passed = self._prior[0] + self._all.failed, self._prior[1] + self._all.passed
        common = failed / (failed + passed)
        alike = self.chance_alike()
        seen = [self._of.get(box, Counts()) for box in boxes]
        return [
            alike * common + (1 - alike) * (counts.failed + common) / (sum(counts) + 1)
            for counts in seen
        ]


def _weighed(
    counts: Sequence[ByBox], boxes: Sequence[str] = ()
) -> tuple[list[float], Mapping[str, Numbers]]:
    """Return the logarithm of the chance of all results if the test fails since each commit, and
    for each of these boxes two rows with a column for each commit: the rates before it, and from it
    on.
    """
    import numpy as np

    # Most commits of an estimate have no run: the chance and rates stay as they are.
    ran: list[ByBox] = [
        {box: more for box, more in by_box.items() if any(more)} for by_box in counts
    ]
    before, after = _Side(_BEFORE), _Side(_AFTER)
    for by_box in filter(None, ran):
        after.add(by_box)
    logs: list[float] = []
    rates: list[list[list[float]]] = []
    places: list[int] = []
    for by_box, beside in zip(ran, [{}, *ran], strict=False):
        if beside or not places:
            logs.append(before.log_chance() + after.log_chance())
            rates.append([before.rates(boxes), after.rates(boxes)])
        places.append(len(logs) - 1)
        if by_box:
            before.add(by_box)
            after.add(by_box, -1)
    of_boxes = np.array(rates)[places].T
    return [logs[place] for place in places], dict(zip(boxes, of_boxes, strict=True))


def chances(counts: Sequence[ByBox]) -> list[float]:
    """Return the chance of each commit that the test fails since it. Before any run all have the
    same, the good one too: who calls it good may be wrong.
    """
    logs, _ = _weighed(counts)
    return _chances(logs)


def _chances(logs: Sequence[float]) -> list[float]:
    most = max(logs)
    likely = [exp(value - most) for value in logs]
    total = sum(likely)
    return [weight / total for weight in likely]


def contradict(counts: Sequence[ByBox]) -> bool:
    """Return whether a rate for each commit explains the counts far better than two rates do."""
    logs, _ = _weighed(counts)
    most = max(logs)
    two = most + log(sum(exp(value - most) for value in logs) / len(logs))
    each = 0.0
    for by_box in filter(None, counts):
        side = _Side(_AFTER)
        side.add(by_box)
        each += side.log_chance()
    return each - two > log(_CONTRADICTION)


def bracket_of(likely: Sequence[float]) -> Bracket:
    """Return the fewest neighbouring commits that hold 95 % of what all hold, of these the
    likeliest.
    """
    needed = SURE * sum(likely)
    best, first, held = Bracket(0, len(likely) - 1, sum(likely)), 0, 0.0
    for last, chance in enumerate(likely):
        held += chance
        while first < last and held - likely[first] >= needed:
            held -= likely[first]
            first += 1
        if held >= needed:
            best = min(best, Bracket(first, last, held), key=_size)
    return best


def _size(bracket: Bracket) -> tuple[int, float]:
    return bracket.last - bracket.first, -bracket.chance


def most_telling(
    counts: Sequence[ByBox],
    likely: Sequence[float],
    seconds: Mapping[str, float],
    at_once: int = 1,
) -> list[TellingRun]:
    """Return runs to start at once, each on a box of its own: the one that is expected to tell most
    for its seconds, then the one that tells most beside it, whatever that gives, and so on.
    """
    _, rates = _weighed(counts, [*seconds])
    return _most_telling(rates, likely, seconds, at_once)


def _most_telling(
    rates: Mapping[str, Numbers],
    likely: Sequence[float],
    seconds: Mapping[str, float],
    at_once: int,
) -> list[TellingRun]:
    import numpy as np

    free = sorted(seconds, key=lambda box: (seconds[box], box))
    ways = np.array([likely])
    runs: list[TellingRun] = []
    while free and len(runs) < at_once:
        # Of boxes with the same rates only the cheapest can be the best.
        unlike = {rates[box].tobytes(): box for box in reversed(free)}.values()
        candidates = [_best_on(box, rates[box], ways) for box in sorted(unlike, key=free.index)]
        best = max(candidates, key=lambda run: run.bits / max(seconds[run.box], 1))
        runs.append(best)
        free.remove(best.box)
        ways = _split(ways, best.commit, rates[best.box])
    return runs


def _best_on(box: str, rates: Numbers, ways: Numbers) -> TellingRun:
    """Return the run on a box that tells most. `ways`: for each way in which the runs beside it may
    end, a row with the chance of it together with each commit.
    """
    left = _left(ways, rates)
    best = int(left.argmin())
    known = _times_log(_sums(ways)) - _sums(_times_log(ways))
    return TellingRun(best, box, sum(known.tolist()) - float(left[best]))


def _split(ways: Numbers, at: int, rates: Numbers) -> Numbers:
    """Return the ways after one more run, without the unlikely ones."""
    import numpy as np

    before, after = rates
    fails = ways * np.where(np.arange(len(before)) <= at, after, before)
    split = np.stack([fails, ways - fails], axis=1).reshape(-1, len(before))
    return split[_sums(split) > _UNLIKELY]


def _left(ways: Numbers, rates: Numbers) -> Numbers:
    """Return for a run at each commit what is left to know after it, over all ways."""
    import numpy as np

    ends = np.stack([rates, 1 - rates])  # it fails, or passes
    chances = ways[:, None, None] * ends
    logs = _times_log(chances).cumsum(axis=-1)
    (clean, broken), (clean_logs, broken_logs) = (
        np.moveaxis(some, 2, 0) for some in (chances.cumsum(axis=-1), logs)
    )
    # The test fails at the run's commit already, or does not yet.
    left = _times_log(broken + clean[..., -1:] - clean)
    left -= broken_logs + clean_logs[..., -1:] - clean_logs
    total: Numbers = left.reshape(-1, left.shape[-1]).sum(axis=0)
    return total


def _sums(rows: Numbers) -> Numbers:
    """Return the sum of each row, added up in its order."""
    return rows.cumsum(axis=1)[:, -1]


def _times_log(chances: Numbers) -> Numbers:
    import numpy as np

    logs = np.log2(chances, out=np.zeros_like(chances), where=chances > 0)
    logs *= chances
    return logs


def effort(commits: int, rate: float, boxes: int) -> Effort | None:
    """Return what it takes to find one of these commits; None: more than `RUNS_MAX` runs."""
    at_once = min(boxes, AT_ONCE_MAX)
    # A rate is known no better than by two digits, so tests share what was computed.
    runs, rounds = (rounds_needed(commits, float(f"{rate:.2g}"), count) for count in (1, at_once))
    if runs is None or rounds is None:
        return None
    return Effort(commits=commits, runs=runs, boxes=at_once, rounds=rounds)


@lru_cache(maxsize=4096)
def rounds_needed(commits: int, rate: float, at_once: int = 1) -> int | None:
    """Return about how many rounds of so many runs at once find one of these commits, where the
    test fails at this rate since the middle one; None: more than `RUNS_MAX`. Each round gives what
    its runs give on average.
    """
    new, seconds = "new", {str(number): 1.0 for number in range(at_once)}
    since, box = (commits + 1) // 2, "any"
    counts = [{box: Counts()} for _ in range(commits + 1)]
    counts[0], counts[-1] = {box: Counts(0, 1)}, {box: Counts(1, 1 / rate - 1)}
    rounds = 0
    while rounds < RUNS_MAX:
        logs, rates = _weighed(counts, [new])
        likely = _chances(logs)
        bracket = bracket_of(likely)
        if bracket.first == bracket.last:
            return rounds
        times = max(1, rounds // _COARSE)
        for commit, *_ in _most_telling(
            dict.fromkeys(seconds, rates[new]), likely, seconds, at_once
        ):
            failed = rate if commit >= since else 0
            more = Counts(failed, 1 - failed)
            counts[commit] = {box: counts[commit][box].plus(more, times)}
        rounds += times
    return None
