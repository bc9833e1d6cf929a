# SPDX-License-Identifier: Apache-2.0
"""Benches with planted causes, drawn by a seed: the reports they send, and the truth.

This module decides which attempt fails and why, and what CI forgets to send. It knows facts only:
no rule and no statistic is asked, so that both can be judged by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from random import Random
from typing import NamedTuple

from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Outcome, Trigger, Verdict
from hwci.engine.facts import Facts, Product, Report, SuiteConfig, TestItem

PRODUCT = Product("fw", "hil")
MAIN = "main"
PULL_REQUEST = "feed" * 10
"""The commit of a pull request."""
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
BETWEEN_RUNS = timedelta(hours=3)

FILES = {
    "firmware": ("src/driver.c",),
    "harness": ("tests/conftest.py",),
    "both": ("src/driver.c", "tests/conftest.py"),
    "neither": ("README.md",),
}
_DRAWN_OF_TWENTY = {"firmware": 11, "harness": 4, "both": 1, "neither": 4}
_FARTHEST_PUSH = 3
_FIXED = 0.5
_LATER = 0.25


class Runs(StrEnum):
    """Which boxes run a push: some `together`; all but the last, and that as a `spare` where one of
    them failed; the first, and the others where that `gate` passed.
    """

    TOGETHER = "together"
    SPARE = "spare"
    GATE = "gate"


class Kind(StrEnum):
    """What makes attempts fail."""

    BUG = "bug"  # of the firmware, in every attempt
    RACE = "race"  # of the firmware, in some attempts
    HARNESS = "harness"  # a test that is written badly
    BAD_BOX = "bad box"  # every test fails more often there
    BOX_TEST = "box and test"  # one test fails there, for the box lacks something
    OUTAGE = "outage"  # its tests fail together, in some runs, in every attempt
    HANG = "hang"  # the run loses its board at the test, in some runs


@dataclass(frozen=True)
class Cause:
    """A planted cause. It is in the commits of main from number `since` up to, but without,
    `until` (None: never fixed). Empty `tests` or `boxes`: all. An attempt (of an outage: a
    run) fails at `rate`, and the odds that it fails for any reason are `odds` times as high.
    """

    kind: Kind
    tests: frozenset[int] = frozenset()
    boxes: frozenset[str] = frozenset()
    rate: float = 0.0
    odds: float = 1.0
    since: int = 0
    until: int | None = None

    def acts(self, test: int, box: str, commit: int) -> bool:
        """Whether it can make this test fail on this box and commit."""
        reached = self.since <= commit and (self.until is None or commit < self.until)
        here = not self.boxes or box in self.boxes
        return reached and here and (not self.tests or test in self.tests)


@dataclass(frozen=True)
class Plan:
    """How large a fleet is, how often what is planted, and how often CI forgets something.

    `runs`: reports on main, of up to `boxes_at_once` boxes for each push; `boxes_at_once_min`: of
    so many at least, drawn for each push (None: of as many each time). `base_rate`: attempts
    that fail for no planted cause. `lost`: runs that lose their bench midway; `unreached`: that
    never reach it; `unrun`: pushes that nothing runs for. `leaves`: a box that runs nothing from
    such a commit of main on. `pull_request`: so often a commit runs at the end that was forked from
    the last one of main; only its own causes begin at the number behind that.
    """

    boxes: int = 5
    boxes_at_once: int = 5
    tests: int = 20
    runs: int = 200
    attempts: int = 2
    base_rate: float = 0.01
    lost: float = 0.0
    unreached: float = 0.0
    unrun: float = 0.0
    verdicts: float = 1.0
    wrong_verdicts: float = 0.0
    changes: float = 1.0
    branches: int = 0
    renamed: int = 0
    boxes_at_once_min: int | None = None
    order: Runs = Runs.TOGETHER
    leaves: tuple[str, int] | None = None
    pull_request: int = 0

    @property
    def box_keys(self) -> tuple[str, ...]:
        """The names of the boxes."""
        return tuple(f"bench-{number}" for number in range(1, self.boxes + 1))

    @property
    def pushes(self) -> int:
        """The number of pushes that run on main."""
        return -(-self.runs // min(self.boxes, self.boxes_at_once))


@dataclass(frozen=True)
class Simulated:
    """What CI sent, and what only the simulator knows: the commits of main in their order (their
    kinds beside), the numbers of those that ran, the causes, and the merges that nothing ran.
    """

    plan: Plan
    facts: Facts
    commits: tuple[Commit, ...]
    kinds: tuple[str, ...]
    tested: tuple[int, ...]
    causes: tuple[Cause, ...]
    unrun: frozenset[str]


def simulate(plan: Plan, causes: Sequence[Cause], seed: int) -> Simulated:
    """Return a fleet with these causes. Their commits are numbers of main; see `onset`."""
    fleet = _Fleet(plan, tuple(causes), Random(seed))
    fleet.run()
    return fleet.told()


def commits_of(plan: Plan) -> int:
    """Return the number of commits of main: two for each push."""
    return 2 * plan.pushes


def planted(plan: Plan, kind: Kind, rate: float, seed: int) -> Cause:
    """Return a cause in one test, which begins at any commit, and which half of the time is fixed
    at any later one.
    """
    random, last = Random(f"planted {seed}"), commits_of(plan)
    since = random.randrange(last)
    until = random.randrange(since + 1, last + 1) if random.random() < _FIXED else None
    test = frozenset({random.randrange(plan.tests)})
    return Cause(kind, test, rate=rate, since=since, until=until)


class _Push(NamedTuple):
    """Commits that are run. `number`: the place on main whose causes act; `sent`: what CI reports
    of `changes`; `covers`: the commits that were pushed.
    """

    branch: str
    number: int
    changes: ChangeList
    sent: ChangeList | None
    covers: tuple[str, ...]


class _Fleet:
    def __init__(self, plan: Plan, causes: tuple[Cause, ...], random: Random) -> None:
        self._plan, self._causes, self._random = plan, causes, random
        self._kinds = self._drawn_kinds()
        self._commits = tuple(map(self._commit, range(len(self._kinds))))
        self._reports: list[Report] = []
        self._tested: list[int] = []
        self._unrun: set[str] = set()
        self._renamed = {test: random.randrange(len(self._commits)) for test in range(plan.renamed)}

    def told(self) -> Simulated:
        announced = (
            Merge(PRODUCT.repo_key, PRODUCT.suite, one.sha, MAIN, _at(number / 2))
            for number, one in enumerate(self._commits)
        )
        config = SuiteConfig(*PRODUCT, firmware_paths=("src/**",), harness_paths=("tests/**",))
        facts = Facts(tuple(announced), tuple(self._reports), {PRODUCT: config})
        return Simulated(
            plan=self._plan,
            facts=facts,
            commits=self._commits,
            kinds=self._kinds,
            tested=tuple(self._tested),
            causes=self._causes,
            unrun=frozenset(self._unrun),
        )

    def run(self) -> None:
        """Push commit after commit, one to three at once, and run each push."""
        last, before = len(self._commits) - 1, -1
        while before < last:
            head = min(last, before + self._random.randint(1, _FARTHEST_PUSH))
            if self._random.random() < self._plan.unrun:
                self._unrun.update(one.sha for one in self._commits[before + 1 : head + 1])
            else:
                pushed = tuple(one.sha for one in self._commits[before + 1 : head + 1])
                self._push(MAIN, head, self._since_last_run(head), covers=pushed)
                self._tested.append(head)
            before = head
        for branch in range(self._plan.branches):
            fork = self._random.randrange(last + 1)
            own = Commit(f"{branch:07x}b", f"Try {branch}", files=FILES["neither"])
            self._push(f"feature-{branch}", fork, ChangeList(self._commits[fork].sha, (own,)))
        for _ in range(self._plan.pull_request):
            own = Commit(PULL_REQUEST, "Change the driver", files=FILES["firmware"])
            self._push("pull-request", last + 1, ChangeList(self._commits[last].sha, (own,)))

    def _push(
        self, branch: str, number: int, changes: ChangeList, covers: tuple[str, ...] = ()
    ) -> None:
        """Run the last of these commits on some boxes. What acts at commit `number` of main acts in
        it, be it that commit or one of a branch that was forked there.
        """
        plan, random = self._plan, self._random
        sent = changes if random.random() < plan.changes else None
        at_once = min(plan.boxes, plan.boxes_at_once)
        if plan.boxes_at_once_min is not None:
            at_once = random.randint(plan.boxes_at_once_min, at_once)
        run_id = len(self._reports)
        there = [
            box
            for box in plan.box_keys
            if plan.leaves is None or plan.leaves[0] != box or number < plan.leaves[1]
        ]
        boxes = sorted(random.sample(there, min(at_once, len(there))))
        first = {Runs.SPARE: boxes[:-1], Runs.GATE: boxes[:1]}.get(plan.order, boxes)
        push = _Push(branch, number, changes, sent, covers)
        reports = [self._report(push, box, run_id) for box in first]
        failed = any(one.conclusion == "failure" for one in reports)
        if failed is (plan.order is Runs.SPARE):
            later = [box for box in boxes if box not in first]
            reports += [self._report(push, box, run_id + len(first), _LATER) for box in later]
        self._reports += reports

    def _report(self, push: "_Push", box: str, run_id: int, later: float = 0.0) -> Report:
        """Return what a box sends of a push, whose run begins so much of a push later."""
        number = push.number
        reached = self._random.random() >= self._plan.unreached
        items = self._items(number, box) if reached else ()
        failed = any(one.outcome is Outcome.FAIL for one in items)
        return Report(
            repo_key=PRODUCT.repo_key,
            workflow="hil",
            suite=PRODUCT.suite,
            run_id=run_id,
            run_attempt=1,
            trigger=Trigger.MERGE,
            branch=push.branch,
            sha=push.changes.commits[-1].sha,
            started_at=_at(number / 2 + later),
            ended_at=_at(number / 2 + later + 0.25),
            conclusion="failure" if failed or not reached else "success",
            hello_ok=reached,
            box_key=box,
            tests=items,
            covers_shas=push.covers,
            changes=push.sent,
        )

    def _items(self, commit: int, box: str) -> tuple[TestItem, ...]:
        """Run all tests. A bench that is lost midway fails each test from there on."""
        tests, struck = self._plan.tests, self._struck(box, commit)
        lost = self._random.random() < self._plan.lost
        lost_from = self._random.randrange(tests) if lost else self._hung(box, commit)
        return tuple(
            self._item(self.name(test, commit), 1.0, Verdict.INFRA)
            if test >= lost_from
            else self._item(self.name(test, commit), 1.0, Verdict.DEVICE)
            if test in struck
            else self._item(self.name(test, commit), *self._chance(test, box, commit))
            for test in range(tests)
        )

    def _hung(self, box: str, commit: int) -> int:
        """Return the test at which this run loses its board, or one behind the last."""
        hung = [
            test
            for cause in self._causes
            if cause.kind is Kind.HANG
            for test in cause.tests
            if cause.acts(test, box, commit) and self._random.random() < cause.rate
        ]
        return min(hung, default=self._plan.tests)

    def _struck(self, box: str, commit: int) -> frozenset[int]:
        """Return the tests of outages that strike this run."""
        struck = [
            cause.tests
            for cause in self._causes
            if cause.kind is Kind.OUTAGE and self._random.random() < cause.rate
            if any(cause.acts(test, box, commit) for test in cause.tests)
        ]
        return frozenset().union(*struck)

    def name(self, test: int, commit: int) -> str:
        """Return the name of a test, which a renamed one changes at some commit."""
        renamed = commit >= self._renamed.get(test, commit + 1)
        return f"test_{test:03d}_renamed" if renamed else f"test_{test:03d}"

    def _chance(self, test: int, box: str, commit: int) -> tuple[float, Verdict]:
        """Return the chance that an attempt fails, and what an honest harness would blame."""
        passing, odds, verdict = 1 - self._plan.base_rate, 1.0, Verdict.DEVICE
        for cause in self._causes:
            if cause.kind not in {Kind.OUTAGE, Kind.HANG} and cause.acts(test, box, commit):
                passing, odds = passing * (1 - cause.rate), odds * cause.odds
                if cause.kind in {Kind.BAD_BOX, Kind.BOX_TEST}:
                    verdict = Verdict.INFRA
        failing = (1 - passing) * odds
        return failing / (failing + passing), verdict

    def _item(self, name: str, chance: float, verdict: Verdict) -> TestItem:
        for attempt in range(1, self._plan.attempts + 1):
            if self._random.random() >= chance:
                return TestItem(name, Outcome.PASS, attempt, 1.0)
        said = self._said(verdict)
        return TestItem(name, Outcome.FAIL, self._plan.attempts, 1.0, said)

    def _said(self, verdict: Verdict) -> Verdict:
        if self._random.random() >= self._plan.verdicts:
            return Verdict.UNKNOWN
        if self._random.random() >= self._plan.wrong_verdicts:
            return verdict
        return Verdict.DEVICE if verdict is Verdict.INFRA else Verdict.INFRA

    def _drawn_kinds(self) -> tuple[str, ...]:
        """Draw what each commit changes: a cause begins and ends in files of its own kind."""
        kinds, weights = list(_DRAWN_OF_TWENTY), list(_DRAWN_OF_TWENTY.values())
        drawn = self._random.choices(kinds, weights, k=commits_of(self._plan))
        for cause in self._causes:
            if cause.kind not in {Kind.BAD_BOX, Kind.BOX_TEST, Kind.OUTAGE, Kind.HANG}:
                for number in {cause.since, cause.until} - {None, len(drawn)}:
                    drawn[number or 0] = "harness" if cause.kind is Kind.HARNESS else "firmware"
        return tuple(drawn)

    def _commit(self, number: int) -> Commit:
        sha = f"{self._random.getrandbits(32):08x}{number:08x}"
        return Commit(sha, f"Change {number}", files=FILES[self._kinds[number]])

    def _since_last_run(self, head: int) -> ChangeList:
        base = self._tested[-1] if self._tested else None
        listed = self._commits[0 if base is None else base + 1 : head + 1]
        return ChangeList(None if base is None else self._commits[base].sha, listed)


def _at(pushes: float) -> datetime:
    return EPOCH + BETWEEN_RUNS * pushes
