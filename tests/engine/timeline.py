# SPDX-License-Identifier: Apache-2.0
"""Histories drawn as pictures: a box, then what it ran, in order of time.

    seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw hs"})

reads: on box-1, the test passed on commit a, failed on b and passed on c; b changed a firmware
file, c a firmware and a harness file. Token n of every line starts at minute n, lines seconds
apart. Each run's changes start at the commit before it in its line (the first has none).

Outcomes: `P` pass, `P3` pass at the third attempt, `F` fail blamed on the device, `I` on the bench,
`U` on nobody, `L` a run that never reached the hardware, `-` no test ran. `changed` words: `fw`,
`hs`, `doc`, and `~` for a file list that was cut short; a commit that is not named changed `doc`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hwci.contract.failures.failures import ResolvedFailure, Review
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.page.metrics import MetricsPage
from hwci.contract.people import Actor
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Outcome, ReviewAction, Trigger, Verdict
from hwci.engine.facts import (
    Facts,
    FailureKey,
    Lane,
    Product,
    Report,
    StoredReview,
    SuiteConfig,
    TestItem,
    failure_id,
)
from hwci.engine.full_history import FullHistory
from hwci.engine.history import Failure, Scope
from hwci.engine.page.failures import LabelledFailure, resolved_failure
from hwci.engine.page.overview import read_page
from hwci.engine.page.reading import read_failures
from hwci.engine.periods import Period
from hwci.engine.rules.classify import Classification, Classifier
from hwci.engine.rules.labels import Group, group_of, groups_of
from hwci.engine.rules.reports import first_places
from tests.support.reading import Reading, read_period

ORG = UUID("00000000-0000-4000-8000-000000000001")
START = datetime(2026, 1, 1, tzinfo=UTC)
EVER = Period(START - timedelta(days=3650), START + timedelta(days=3650))
ALL = Scope()
REPO, SUITE, BOX, MAIN, TEST = "board", "app", "box-1", "main", "boots"
CONFIG = SuiteConfig(REPO, SUITE, ("src/**",), ("ci/**",))

_FILES = {"fw": "src/main.c", "hs": "ci/run.py", "doc": "README.md"}
_VERDICTS = {"F": Verdict.DEVICE, "I": Verdict.INFRA, "U": Verdict.UNKNOWN}


def minute(number: float) -> datetime:
    return START + timedelta(minutes=number)


def commit(sha: str, changed: str = "doc") -> Commit:
    words = changed.split()
    files = tuple(_FILES.get(word, word) for word in words if word != "~")
    return Commit(sha, f"Change {sha}", None, files, "~" in words)


def changes(base: str | None, *commits: Commit | str, truncated: bool = False) -> ChangeList:
    listed = tuple(one if isinstance(one, Commit) else commit(one) for one in commits)
    return ChangeList(base, listed, truncated)


def flaky_test(*values: Any) -> FlakyTest:
    """Return a row of "Flakiest tests" with these values, in the order of its fields."""
    names = [column.name for column in fields(FlakyTest)]
    return FlakyTest(**dict(zip(names, values, strict=True)))


def item(outcome: str, test_id: str = TEST) -> TestItem:
    attempts = int(outcome[1:] or 1)
    if outcome[0] == "P":
        return TestItem(test_id, Outcome.PASS, attempts)
    return TestItem(test_id, Outcome.FAIL, attempts, verdict=_VERDICTS[outcome[0]])


def report(
    run: str,
    at: float,
    *,
    box: str = BOX,
    branch: str = MAIN,
    suite: str = SUITE,
    workflow: str = "hil",
    run_id: int | None = None,
    attempt: int = 1,
    sent: ChangeList | None = None,
    covers: Sequence[str] = (),
    tests: Sequence[TestItem] | None = None,
    repo: str = REPO,
) -> Report:
    """Make the report of one token, as `b:F`, that started at a minute."""
    sha, outcome = run.split(":")
    if tests is None:
        tests = () if outcome in {"L", "-"} else (item(outcome),)
    return Report(
        repo_key=repo,
        workflow=workflow,
        suite=suite,
        run_id=round(at * 1000) if run_id is None else run_id,
        run_attempt=attempt,
        trigger=Trigger.MERGE,
        branch=branch,
        sha=sha,
        started_at=minute(at),
        ended_at=minute(at + 1),
        conclusion="success",
        hello_ok=outcome != "L",
        box_key=box,
        tests=tuple(tests),
        covers_shas=tuple(covers),
        changes=sent,
    )


@dataclass
class Past:
    """A history under test, and the questions that tests ask of it."""

    reports: list[Report] = field(default_factory=list)
    configs: dict[Product, SuiteConfig] = field(
        default_factory=lambda: {Product(REPO, SUITE): CONFIG}
    )
    announcements: list[Merge] = field(default_factory=list)
    reviews: dict[FailureKey, StoredReview] = field(default_factory=dict)

    def and_also(self, *reports: Report) -> "Past":
        return replace(self, reports=[*self.reports, *reports])

    def configured(self, *configs: SuiteConfig) -> "Past":
        return replace(self, configs={Product(c.repo_key, c.suite): c for c in configs})

    def announced(self, *announcements: Merge) -> "Past":
        return replace(self, announcements=[*self.announcements, *announcements])

    def reviewed(self, sha: str, action: str, number: int = 1) -> "Past":
        key = FailureKey(lane(), sha)
        review = Review(ReviewAction(action), Actor(ORG, "Ada"), minute(500))
        return replace(self, reviews={**self.reviews, key: StoredReview(key, review, number)})

    @property
    def facts(self) -> Facts:
        return Facts(tuple(self.announcements), tuple(self.reports), self.configs, self.reviews)

    @property
    def history(self) -> FullHistory:
        return FullHistory(ORG, self.facts)

    def read(self, scope: Scope = ALL, period: Period = EVER) -> Reading:
        return read_period(self.history, scope, period)

    def labelled(self, scope: Scope = ALL, period: Period = EVER) -> Sequence[LabelledFailure]:
        return read_failures(self.history, scope, period)

    def page(self, scope: Scope = ALL, period: Period = EVER, rows: int = 20) -> MetricsPage:
        return read_page(self.history, scope, period, rows)

    def failures(self) -> Sequence[Failure]:
        return self.history.failures(ALL, EVER)

    def groups(self) -> list[Group]:
        return groups_of(self.history, self.failures())

    def labels(self, of: Lane | None = None) -> str:
        """Return the labels of a lane in order of place: `b:resolved c:flake`."""
        found = sorted(
            (one for one in self.failures() if one.key.lane == (of or lane())),
            key=lambda one: one.place,
        )
        result = ((one, group_of(self.history, one)) for one in found)
        return " ".join(f"{one.key.sha}:{group.label}" for one, group in result)

    def together(self) -> set[str]:
        """Return the groups: the commits of each, in order of place."""
        return {" ".join(one.key.sha for one in group.failures) for group in self.groups()}

    def group(self, sha: str, of: Lane | None = None) -> Group:
        failure = self.history.failure(id_of(sha, of))
        assert failure is not None
        return group_of(self.history, failure)

    def row(self, sha: str, of: Lane | None = None) -> ResolvedFailure:
        row = resolved_failure(self.history, id_of(sha, of))
        assert row is not None
        return row

    def judged(self, sha: str) -> Classification:
        return Classifier(self.history).automatic(self.group(sha))

    def reason(self, sha: str) -> str:
        """Return the reason code of the failure's class, `real` for a real firmware bug."""
        reason = self.judged(sha).reason
        return "real" if reason is None else reason.value


def lane(box: str = BOX, branch: str = MAIN, suite: str = SUITE, test_id: str = TEST) -> Lane:
    return Lane(REPO, suite, test_id, box, branch)


def id_of(sha: str, of: Lane | None = None) -> UUID:
    return failure_id(ORG, FailureKey(of or lane(), sha))


def seen(picture: str, changed: Mapping[str, str] | None = None) -> Past:
    """Read a picture: lines of `box [branch] | sha:outcome …`."""
    reports: list[Report] = []
    for number, line in enumerate(picture.strip().splitlines()):
        head, runs = line.split("|")
        box, *branch = head.split()
        reports += _line(runs.split(), number, box, *branch, changed=changed or {})
    return Past(reports)


def _line(
    runs: Iterable[str],
    number: int,
    box: str,
    branch: str = MAIN,
    *,
    changed: Mapping[str, str],
) -> list[Report]:
    reports = []
    before: str | None = None
    for index, run in enumerate(runs):
        sha = run.split(":")[0]
        sent = None if before is None else changes(before, commit(sha, changed.get(sha, "doc")))
        at = index + number / 60
        reports.append(report(run, at, box=box, branch=branch, sent=sent))
        before = sha
    return reports


def order_of(*reports: Report) -> str:
    """Return the commits of a branch in order of place."""
    places = first_places(reports)
    return " ".join(sorted(places, key=lambda sha: places[sha]))
