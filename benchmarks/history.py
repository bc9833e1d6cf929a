# SPDX-License-Identifier: Apache-2.0
"""Histories to measure with: the bodies that the CI of a firmware team would have sent.

This module decides sizes and what happens in a history; equal size and seed give equal bodies. It
knows no metric. Every push to main is announced for each product and tested on all its boxes, but
for a few that no run covers; there are nightly runs, and runs by hand of main and of branches. Bugs
come with a push, on all boxes or one, and stay for some pushes; some tests are flaky; a box can
fail tests by itself, break off, or never start. A fifth of the tests are born in the course of it.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

SEED = 7
START = datetime(2025, 1, 6, tzinfo=UTC)
DAYS_AFTER = 3
"""Days that follow a history: their bodies are what benchmarks send."""

RUNS_A_DAY = 8.3
PUSHES, NIGHTLIES = 0.75, 0.15  # of the runs; the others are by hand
UNCOVERED = 0.03  # pushes
BUGS_A_PUSH = 0.15
BUG_PUSHES = (4, 15)
FLAKY_TESTS = 0.05
FLAKE_RATES = (0.02, 0.4)  # of an attempt
ATTEMPTS = 3
RERUNS = 0.12  # runs of which a box runs again
LOST, FAULTY, BROKEN_OFF = 0.03, 0.005, 0.01  # reports
FAULTY_TESTS = 0.2  # of a report of a faulty box
NEW_TESTS = 0.2

REPOSITORY = "https://git.example.com/firmware/sensor"
MAIN = "main"
ANNOUNCE, REPORT, CONFIGURE = "merge-announce", "run-report", "suite-config"
FIRMWARE, HARNESS, OTHER = "src", "hil", "docs"

Body = tuple[str, dict[str, Any]]
"""The last part of the route that takes it, and its JSON."""


@dataclass(frozen=True)
class Size:
    """How large a history is. `boxes` and `tests`: of each product. `before`: days of another
    history of the same boxes that came before, so that the last days are the same with and without.
    """

    products: int
    boxes: int
    tests: int
    days: int
    before: int = 0

    @property
    def end(self) -> datetime:
        """When the history ends, and the days after it begin."""
        return START + timedelta(days=self.days)


SIZES = {
    "S": Size(1, 2, 40, 10),
    "N": Size(1, 1, 100, 60),
    "M": Size(1, 4, 250, 120),
    "L": Size(2, 5, 500, 240),
    "ML": Size(1, 4, 250, 120, before=1080),
}


@dataclass(frozen=True)
class Commit:
    """A commit; `push`: the number of the push that brought it."""

    body: dict[str, Any]
    push: int


@dataclass(frozen=True)
class Bug:
    """A bug of some pushes, on some boxes, which makes some tests fail."""

    pushes: range
    boxes: frozenset[str]
    tests: frozenset[int]


@dataclass(frozen=True)
class Run:
    """A run to report: of a workflow, at a commit. `push`: the bugs of which push it meets."""

    workflow: str
    trigger: str
    branch: str
    sha: str
    push: int
    at: datetime
    covers: Sequence[str]
    changes: dict[str, Any] | None


def history(size: Size, seed: int = SEED) -> Iterator[Body]:
    """Yield the configurations, then what CI sent, in order of time, with the days after it."""
    story = _Story(size, Random(seed), START)  # noqa: S311 - no secret
    yield from story.configurations()
    if size.before:
        start = START - timedelta(days=size.before)
        earlier = _Story(replace(size, days=size.before), Random(seed + 1), start)  # noqa: S311 - as above
        yield from earlier.days(size.before)
    yield from story.days(size.days + DAYS_AFTER)


def is_after(size: Size, body: Body) -> bool:
    """Whether a body is of the days after the history."""
    sent = body[1]
    at = sent.get("started_at") or sent.get("merged_at")
    return at is not None and datetime.fromisoformat(at) >= size.end


class _Product:
    """A test suite on its boxes, and what is wrong with it."""

    def __init__(self, number: int, size: Size, rng: Random, start: datetime) -> None:
        self.suite = f"board-{number}"
        self.boxes = [f"bench-{number}-{box}" for box in range(size.boxes)]
        self.tests = [f"{_AREAS[test % len(_AREAS)]}/test_{test:04}" for test in range(size.tests)]
        self.seconds = [0.02 * 1000 ** rng.random() for _ in self.tests]
        low, high = FLAKE_RATES
        self.flake_rates = {
            test: low + (high - low) * rng.random()
            for test in range(size.tests)
            if rng.random() < FLAKY_TESTS
        }
        self.bugs: list[Bug] = []
        self.last: dict[tuple[str, str], int] = {}
        """By workflow and branch: the last commit of main that reached the hardware."""
        self._start, self._days = start, size.days
        self._old = round(size.tests * (1 - NEW_TESTS))

    def present(self, at: datetime) -> int:
        """Return how many tests there are: the first ones, and those born since."""
        part = min((at - self._start) / timedelta(days=self._days), 1.0)
        return self._old + int((len(self.tests) - self._old) * part)

    def break_something(self, push: int, present: int, rng: Random) -> None:
        """Let a push bring a bug."""
        least, most = BUG_PUSHES
        pushes = range(push, push + rng.randint(least, most))
        boxes = self.boxes if rng.random() < 0.5 else [rng.choice(self.boxes)]
        tests = {rng.randrange(present) for _ in range(rng.randint(1, 3))}
        self.bugs = [bug for bug in self.bugs if bug.pushes.stop + 50 > push]
        self.bugs.append(Bug(pushes, frozenset(boxes), frozenset(tests)))

    def results(self, run: Run, box: str, rng: Random) -> list[dict[str, Any]]:
        """Return the items of a report."""
        present = self.present(run.at)
        verdicts = self._buggy(run, box, rng) | self._faulty(present, rng)
        if rng.random() < BROKEN_OFF:
            present = rng.randrange(1, present)
        drawn = rng.random
        items: list[dict[str, Any]] = [
            {
                "id": self.tests[test],
                "outcome": "pass",
                "attempts": 1,
                "duration_s": round(self.seconds[test] * (0.97 + 0.06 * drawn()), 3),
            }
            for test in range(present)
        ]
        for test, rate in self.flake_rates.items():
            if test < present:
                self._attempt(items[test], rate, rng)
        for test, verdict in verdicts.items():
            if test < present:
                items[test] |= {"outcome": "fail", "attempts": ATTEMPTS, "verdict": verdict}
        return items

    def _buggy(self, run: Run, box: str, rng: Random) -> dict[int, str]:
        return {
            test: "device" if rng.random() < 0.8 else "unknown"
            for bug in self.bugs
            if run.push in bug.pushes and box in bug.boxes
            for test in sorted(bug.tests)
        }

    def _faulty(self, present: int, rng: Random) -> dict[int, str]:
        if rng.random() >= FAULTY:
            return {}
        return {test: "infra" for test in range(present) if rng.random() < FAULTY_TESTS}

    def _attempt(self, item: dict[str, Any], rate: float, rng: Random) -> None:
        failed = 0
        while failed < ATTEMPTS and rng.random() < rate:
            failed += 1
        if failed == ATTEMPTS:
            item |= {"outcome": "fail", "attempts": ATTEMPTS, "verdict": "unknown"}
        else:
            item["attempts"] = failed + 1


class _Story:
    """What happens, slot by slot: in each, one run of every product."""

    def __init__(self, size: Size, rng: Random, start: datetime) -> None:
        self._rng = rng
        self._start = start
        self._products = [_Product(number, size, rng, start) for number in range(size.products)]
        self._main: list[Commit] = []
        self._pushes = 0
        self._runs = 1_000 if start == START else 1_000_000

    def configurations(self) -> Iterator[Body]:
        """Yield the suite configuration of each product."""
        for product in self._products:
            yield (
                CONFIGURE,
                {
                    "repo_key": REPOSITORY,
                    "suite": product.suite,
                    "firmware_paths": [f"{FIRMWARE}/**"],
                    "harness_paths": [f"{HARNESS}/**"],
                    "merge_trigger": True,
                },
            )

    def days(self, days: int) -> Iterator[Body]:
        """Yield what CI sends in so many days."""
        for slot in range(round(days * RUNS_A_DAY)):
            yield from self.slot(self._start + slot * timedelta(days=1) / RUNS_A_DAY)

    def slot(self, at: datetime) -> Iterator[Body]:
        """Yield what CI sends of the runs at one time."""
        kind = self._rng.random()
        if kind < PUSHES or not self._main:
            yield from self._push(at)
        elif kind < PUSHES + NIGHTLIES:
            for product in self._products:
                yield from self._reports(product, self._of_main(product, "nightly", at))
        else:
            on_main = self._rng.random() < 0.5
            for product in self._products:
                run = self._by_hand(at) if on_main else self._of_branch(at)
                yield from self._reports(product, run)

    def _push(self, at: datetime) -> Iterator[Body]:
        """Push one to three commits to main; run each product on it."""
        self._pushes += 1
        covered = self._rng.random() >= UNCOVERED
        commits = [self._commit(at) for _ in range(self._rng.randint(1, 3))]
        self._main += commits
        head = commits[-1].body["sha"]
        for product in self._products:
            if self._rng.random() < BUGS_A_PUSH:
                product.break_something(self._pushes, product.present(at), self._rng)
            yield (
                ANNOUNCE,
                {
                    "repo_key": REPOSITORY,
                    "suite": product.suite,
                    "sha": head,
                    "branch": MAIN,
                    "merged_at": at.isoformat(),
                },
            )
        for product in self._products if covered else ():
            covers = [commit.body["sha"] for commit in commits[:-1]]
            yield from self._reports(product, self._of_main(product, "merge", at, covers))

    def _commit(self, at: datetime) -> Commit:
        sha = self._sha("main", len(self._main), self._rng.random())
        files = [self._file() for _ in range(self._rng.randint(1, 6))]
        return Commit(_commit_body(sha, f"Change {len(self._main)}", at, files), self._pushes)

    def _file(self) -> str:
        drawn = self._rng.random()
        folder = FIRMWARE if drawn < 0.7 else HARNESS if drawn < 0.85 else OTHER
        return f"{folder}/{self._rng.choice(_AREAS)}/file_{self._rng.randrange(100)}.c"

    def _sha(self, *parts: object) -> str:
        return hashlib.sha1(repr(parts).encode(), usedforsecurity=False).hexdigest()

    def _of_main(
        self, product: _Product, trigger: str, at: datetime, covers: Sequence[str] = ()
    ) -> Run:
        """Return a run of the head of main, with the changes since the last one."""
        workflow, head = f"{product.suite}-{trigger}", self._main[-1]
        last = product.last.get((workflow, MAIN))
        since = self._main[-1:] if last is None else self._main[last + 1 :][-50:]
        changes = {
            "base_sha": None if last is None else self._main[last].body["sha"],
            "commits": [commit.body for commit in since],
            "truncated": last is not None and len(self._main) - last - 1 > len(since),
        }
        return Run(
            workflow, trigger, MAIN, head.body["sha"], head.push, _later(at), covers, changes
        )

    def _by_hand(self, at: datetime) -> Run:
        """Return a run of the head of main that reports no changes."""
        head = self._main[-1]
        return Run("by-hand", "manual", MAIN, head.body["sha"], head.push, _later(at), (), None)

    def _of_branch(self, at: datetime) -> Run:
        """Return a run of a branch with one commit after the head of main."""
        head = self._main[-1]
        sha = self._sha("branch", len(self._main), self._rng.random())
        commits = [_commit_body(sha, "Try", at, [self._file()])]
        changes = {"base_sha": head.body["sha"], "commits": commits, "truncated": False}
        branch = f"try-{self._runs}"
        return Run("by-hand", "manual", branch, sha, head.push, _later(at), (), changes)

    def _reports(self, product: _Product, run: Run) -> Iterator[Body]:
        """Yield a report of each box, and of those that run again."""
        self._runs += 1
        for number, box in enumerate(product.boxes):
            yield self._report(product, run, box, run.at + timedelta(seconds=2 * number), 1)
        if self._rng.random() < RERUNS:
            box = self._rng.choice(product.boxes)
            yield self._report(product, run, box, run.at + timedelta(minutes=50), 2)

    def _report(self, product: _Product, run: Run, box: str, at: datetime, attempt: int) -> Body:
        hello_ok = self._rng.random() >= LOST
        tests = product.results(run, box, self._rng) if hello_ok else []
        if hello_ok and run.branch == MAIN and run.changes is not None:
            product.last[run.workflow, MAIN] = len(self._main) - 1
        good = hello_ok and all(item["outcome"] == "pass" for item in tests)
        return (
            REPORT,
            {
                "repo_key": REPOSITORY,
                "workflow": run.workflow,
                "suite": product.suite,
                "run_id": self._runs,
                "run_attempt": attempt,
                "trigger": run.trigger,
                "branch": run.branch,
                "sha": run.sha,
                "started_at": at.isoformat(),
                "ended_at": (at + timedelta(minutes=40)).isoformat(),
                "conclusion": "success" if good else "failure",
                "hello_ok": hello_ok,
                "box_key": box,
                "tests": tests,
                "covers_shas": list(run.covers),
                "changes": run.changes,
            },
        )


_AREAS = ("boot", "can", "flash", "gpio", "i2c", "ota", "power", "radio", "sensor", "usb")


def _later(at: datetime) -> datetime:
    """Return when the run of a push starts."""
    return at + timedelta(minutes=5)


def _commit_body(sha: str, subject: str, at: datetime, files: Sequence[str]) -> dict[str, Any]:
    return {
        "sha": sha,
        "subject": subject,
        "committed_at": at.isoformat(),
        "files": list(files),
    }
