# SPDX-License-Identifier: Apache-2.0
"""Small random histories that are hard on a store, as facts; the same seed gives the same history.

Everything here is drawn from few values, so that reports meet: the same commits, boxes, tests and
identities come again with other outcomes, branches, products and times. `questions` asks a history
all that the engine can ask, in a form that can be compared.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from uuid import UUID

from hwci.analysis.branches import branches_of
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import BranchChoice, Outcome, Trigger, Verdict
from hwci.engine.facts import Facts, Lane, Part, Product, Report, SuiteConfig, TestItem
from hwci.engine.history import Scope
from hwci.engine.periods import Period, Slots, equal_slots
from tests.support.outcomes import by_name

ORG = UUID(int=1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVER = Period(datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))

REPOS = ("fw", "boot")
SUITES = ("hil", "smoke")
WORKFLOWS = ("hil", "nightly")
BRANCHES = ("main", "release")
BOXES = ("b1", "b2")
TESTS = ("boot", "flash", "gpio", "spi", "uart")
SHAS = tuple(f"{number:07x}" for number in range(10))


class HistoryDraw:
    """Draws the facts of one history."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.reports: list[Report] = []

    def next_report(self) -> Report:
        """Draw a new report, or an earlier identity again with other content."""
        draw = self.random
        report = self._fresh()
        if self.reports and draw.random() < 0.3:
            known = draw.choice(self.reports)
            report = replace(
                report if draw.random() < 0.6 else known,
                repo_key=known.repo_key,
                run_id=known.run_id,
                run_attempt=known.run_attempt,
                box_key=known.box_key,
            )
            report = self._altered(report)
        self.reports.append(report)
        return report

    def _altered(self, report: Report) -> Report:
        draw = self.random
        return draw.choice(
            [
                report,
                replace(report, suite=draw.choice(SUITES)),
                replace(report, branch=draw.choice(BRANCHES)),
                replace(report, sha=draw.choice(SHAS)),
                replace(report, started_at=self._time()),
                replace(report, hello_ok=not report.hello_ok),
                replace(report, tests=self._tests()),
                replace(report, changes=self._changes(report.sha)),
            ]
        )

    def _fresh(self) -> Report:
        draw = self.random
        sha = draw.choice(SHAS)
        run_id = draw.randrange(12)
        parts = draw.randrange(1, 4)
        part = Part(draw.randrange(12), draw.randrange(1, parts + 1), parts)
        started_at = self._time()
        return Report(
            repo_key=draw.choice((*REPOS, REPOS[0], REPOS[0])),
            workflow=draw.choice(WORKFLOWS),
            suite=draw.choice(SUITES),
            run_id=run_id,
            run_attempt=draw.randrange(1, 3),
            trigger=draw.choice(list(Trigger)),
            branch=draw.choice((*BRANCHES, BRANCHES[0])),
            sha=sha,
            started_at=started_at,
            ended_at=started_at + timedelta(seconds=draw.randrange(600)),
            conclusion=draw.choice(("success", "failure")),
            hello_ok=draw.random() < 0.85,
            box_key=draw.choice(BOXES),
            tests=self._tests(),
            covers_shas=tuple(draw.sample(SHAS, draw.choice((0, 0, 0, 1, 2)))),
            changes=self._changes(sha),
            part_of=part if draw.random() < 0.2 else None,
            ci_run=draw.choice((None, 42)),
            ci_url=draw.choice((None, "https://ci.example/7", "https://ci.example/9")),
            rerun_of=None if started_at.hour % 3 else 12,  # a draw would change every other one
        )

    def _time(self) -> datetime:
        """Few moments, so that some are equal; others stand a microsecond apart."""
        draw = self.random
        moment = NOON + timedelta(hours=draw.randrange(14))
        return moment + timedelta(microseconds=draw.choice((0, 0, 0, 1)))

    def _tests(self) -> tuple[TestItem, ...]:
        draw = self.random
        chosen = draw.choice((TESTS, TESTS[::-1], draw.sample(TESTS, draw.randrange(4))))
        return tuple(self._item(test) for test in chosen)

    def _item(self, test: str) -> TestItem:
        draw = self.random
        seconds = draw.choice((0.0, 0.1, 2.5, 1e-9))
        # A draw would change every other one.
        board = {0.1: "0483:Ä1", 2.5: "0483:A2"}.get(seconds)
        log = {0.0: "https://ci.example/7/0.log", 2.5: "https://ci.example/7/2.log"}.get(seconds)
        if draw.random() < 0.45:
            verdict = draw.choice(list(Verdict))
            message = draw.choice((None, "CRC 0x1f\nüber", "no ACK"))
            attempts = draw.randrange(1, 4)
            return TestItem(test, Outcome.FAIL, attempts, seconds, verdict, message, board, log)
        odd = draw.random() < 0.1
        verdict = Verdict.INFRA if odd else Verdict.UNKNOWN
        attempts = draw.choice((1, 1, 1, 3))
        return TestItem(test, Outcome.PASS, attempts, seconds, verdict, None, board, log)

    def _changes(self, sha: str) -> ChangeList | None:
        """Draw changes: none, those of another box or part of the run, or new ones."""
        draw = self.random
        if draw.random() < 0.3:
            return None
        if self.reports and draw.random() < 0.4:
            return draw.choice(self.reports).changes
        listed = draw.choices(SHAS, k=draw.choice((0, 1, 2, 4)))
        commits = tuple(self._commit(one) for one in listed + [sha] * draw.choice((0, 1, 1)))
        base = draw.choice((None, sha, *SHAS))
        return ChangeList(base, commits, truncated=draw.random() < 0.1)

    def _commit(self, sha: str) -> Commit:
        draw = self.random
        return Commit(
            sha=sha,
            subject=draw.choice(("", "Fix the bus", "Überlauf 🐞")),
            committed_at=draw.choice((None, self._time())),
            files=tuple(draw.sample(("fw/a.c", "hil/b.py", "README"), draw.randrange(4))),
            files_truncated=draw.random() < 0.1,
        )

    def announcement(self) -> Merge:
        draw = self.random
        return Merge(
            repo_key=draw.choice(REPOS),
            suite=draw.choice((None, *SUITES)),
            sha=draw.choice(SHAS),
            branch=draw.choice(BRANCHES),
            merged_at=self._time(),
            ci_url=draw.choice((None, "https://ci.example/8")),
        )

    def config(self) -> SuiteConfig:
        draw = self.random
        return SuiteConfig(
            repo_key=draw.choice(REPOS),
            suite=draw.choice((*SUITES, "never ran")),
            firmware_paths=draw.choice(((), ("fw/**",), ("fw/*", "!fw/gen.c"))),
            harness_paths=draw.choice(((), ("hil/**",))),
            merge_trigger=draw.random() < 0.5,
            trigger_paths=draw.choice((None, (), ("fw/**",))),
        )


def scopes() -> Iterator[Scope]:
    yield Scope()
    yield Scope(REPOS[0])
    yield Scope(REPOS[0], SUITES[0])
    yield Scope("unknown", "hil")


def periods(draw: random.Random) -> list[Period]:
    """All time, and some hours, or what is about the first day of the history."""
    start = NOON + timedelta(hours=draw.randrange(14))
    hours = Period(start, start + timedelta(hours=draw.randrange(6)))
    midnight, instant = NOON - timedelta(hours=12), timedelta(microseconds=1)
    ends = draw.choice((-instant, 0 * instant, instant, timedelta(hours=1)))
    day = Period(midnight + draw.choice((-instant, 0 * instant)), midnight + timedelta(1) + ends)
    return [EVER, draw.choice((hours, day))]


def questions(
    history: RecordedRuns, facts: Facts, asked: random.Random
) -> Iterator[tuple[str, object]]:
    """Ask everything; what has no order is sorted."""
    for period in periods(asked):
        for scope in scopes():
            yield from _about_period(history, scope, period)
            yield from _about_branches(history, scope, period)
            yield from _about_newest(history, scope, period)
            yield from _about_episodes(history, scope, period)
    yield from _about_failures(history, asked)
    yield from _about_commits(history, facts)
    yield "products", list(history.products())
    yield "unassigned repositories", list(history.unassigned_repositories())
    yield "reviews", dict(history.reviews())


def _about_newest(
    history: RecordedRuns, scope: Scope, period: Period
) -> Iterator[tuple[str, object]]:
    for most in (1, 3, 99):
        newest = history.newest_failing(scope, period, most)
        yield "newest_failing", (list(newest.items), newest.total)
        groups = history.with_groups(newest.items)
        yield "with_groups", sorted(groups, key=lambda one: one.id)


def _about_branches(
    history: RecordedRuns, scope: Scope, period: Period
) -> Iterator[tuple[str, object]]:
    for choice in (*BranchChoice, "rel*", "never ran"):
        branches = branches_of(history, scope, period, choice)
        assert branches is not None
        there = history.on_branches(branches)
        runs = there.test_runs(scope, period)
        keys = there.test_keys([run.test for run in runs])
        rows = sorted(zip(keys, [run[1:] for run in runs], strict=True), key=repr)
        yield f"test_runs on {choice}", rows
        yield f"outcomes on {choice}", by_name(there.outcomes(scope, period))
        slots = equal_slots(period, 3)
        yield f"box_runs on {choice}", sorted(there.box_runs({*keys}, slots))
        since = there.never_passed_since(keys, period)
        yield f"never_passed_since on {choice}", sorted(since, key=lambda one: one.id)


def _about_period(
    history: RecordedRuns, scope: Scope, period: Period
) -> Iterator[tuple[str, object]]:
    yield "merges", sorted(history.merges(scope, period), key=repr)
    yield "merge_counts", history.merge_counts(scope, period)
    for most in (1, 3, 99):
        yield "newest_unchecked", list(history.newest_unchecked(scope, period, most))
    yield "extent", history.extent(scope, period)
    yield "run_counts", history.run_counts(scope, period)
    runs = history.test_runs(scope, period)
    keys = history.test_keys([run.test for run in runs])
    yield "test_runs", sorted(zip(keys, [run[1:] for run in runs], strict=True), key=repr)
    yield "failures", sorted(history.failures(scope, period), key=lambda one: one.id)
    items = history.failing_items(scope, period)
    yield "failing_items", dict(items)
    yield "run_starts", [list(starts) for starts in history.run_starts(scope, period)]
    tests = set(keys)
    never_ran = (Product(REPOS[0], "never ran"), "boot"), (Product(REPOS[0], SUITES[0]), "never")
    some = [*sorted(tests)[::2], *never_ran]
    since = history.never_passed_since(some, period)
    yield "never_passed_since", sorted(since, key=lambda one: one.id)
    third = (period.end - period.start) / 3
    uneven = Slots(period, [period.start, period.start, period.start + third])
    for slots in (*(equal_slots(period, count) for count in (1, 7, 90)), uneven):
        yield "box_runs", sorted(history.box_runs({*tests, *never_ran}, slots))
        yield "box_runs of some", sorted(history.box_runs(sorted(tests)[::3], slots))
    yield (
        "boxes",
        (history.boxes_with_runs(scope, period), history.ran_on({*tests, *never_ran}, period)),
    )
    yield "flake_count", history.flake_count(scope, period)
    yield "flaky_starts", list(history.flaky_starts(scope, period))
    yield "outcomes", by_name(history.outcomes(scope, period))
    for product, test_id in sorted({*sorted(tests)[::3], *never_ran}):
        yield "durations", sorted(history.durations(product, test_id, period))
    yield "ci_pages", list(history.ci_pages(scope, period))
    unknown = [UUID(int=number) for number in range(100)]
    yield "failed_attempts", dict(history.failed_attempts([*unknown, *items]))
    yield (
        "messages and logs",
        [dict(of([*unknown, *items])) for of in (history.messages, history.logs)],
    )


def _about_episodes(
    history: RecordedRuns, scope: Scope, period: Period
) -> Iterator[tuple[str, object]]:
    episodes = sorted(history.episodes(scope, period), key=lambda one: one.id)
    failed = sorted(history.episodes_failed(scope, period), key=lambda one: one.id)
    for name, some in (("episodes", episodes), ("episodes_failed", failed)):
        yield name, [replace(e, reviewed=tuple(sorted(e.reviewed)), decision=None) for e in some]
    yield "under_test", list(history.under_test(failed))
    members = [sorted(of, key=lambda one: one.place) for of in history.members(episodes)]
    yield "members", members
    keys = [[one.key for one in of] for of in members]
    groups = [[], [*chain(*keys)], *keys, *([one] for one in chain(*keys))]
    yield "elsewhere", [set(of) for of in history.elsewhere(groups)]
    lanes = {one.key.lane for one in episodes}
    strange = {lane._replace(test_id="never ran") for lane in lanes}
    other = {lane._replace(suite="never ran") for lane in lanes}
    yield "commits_run", dict(history.commits_run({*lanes, *strange, *other}, period))
    yield "episode_runs", list(history.episode_runs(episodes))


def _about_failures(history: RecordedRuns, asked: random.Random) -> Iterator[tuple[str, object]]:
    failures = sorted(history.failures(Scope(), EVER), key=lambda one: one.id)
    yield "failure unknown", history.failure(UUID(int=7))
    for failure in failures[:20]:
        yield "failure", history.failure(failure.id)
    for failure in asked.sample(failures, min(6, len(failures))):
        lane, place = failure.key.lane, failure.place
        for branch in BRANCHES:
            there = lane._replace(branch=branch)
            yield "last_outcome", history.last_outcome(there, failure.last_started_at)
        together = sorted(history.together(failure), key=lambda one: one.place)
        yield "together", together
        several = (SHAS, asked.sample(SHAS, 4), asked.sample(SHAS, 2), ())
        before = [(failure.key, among) for among in several]
        yield "last_passes_before", list(history.last_passes_before(before))
        for margin in (0, 2):
            last = together[-1].place
            yield "lane_commits", history.lane_commits(lane, place, last, margin)
    since = [(one.key, one.first.started_at) for one in failures]
    yield "ended_since", list(history.ended_since(since))
    for back in (1, 2, 200):
        yield "last_passes", list(history.last_passes([one.key for one in failures], back))
    yield "places", history.places({(repo, branch): SHAS for repo in REPOS for branch in BRANCHES})
    strange = Lane(REPOS[0], SUITES[0], "never ran", BOXES[0], BRANCHES[0])
    yield (
        "strange lane",
        list(history.lane_commits(strange, failures[0].place, failures[0].place, 1))
        if failures
        else [],
    )


def _about_commits(history: RecordedRuns, facts: Facts) -> Iterator[tuple[str, object]]:
    for repo_key in REPOS:
        for steps, oldest in ((0, ""), (1, ""), (9, ""), (9, SHAS[0])):
            yield "listings_back", dict(history.listings_back(repo_key, SHAS[:3], steps, oldest))
        yield "first_listing", dict(history.first_listing(repo_key, [*SHAS, "f" * 40]))
        yield "runs_listing", dict(history.runs_listing(repo_key, [*SHAS, "f" * 40]))
        yield "runs_based_on", dict(history.runs_based_on(repo_key, [*SHAS, "f" * 40]))
    episodes = sorted(history.episodes(Scope(), EVER), key=lambda one: one.id)
    yield "runs_under_test", list(history.runs_under_test(episodes))
    for product in {Product(r.repo_key, r.suite) for r in facts.reports}:
        yield "config", history.config(product)
    for sha in SHAS:
        for branch in BRANCHES:
            yield "place", history.place(REPOS[0], branch, sha)
            for workflow in WORKFLOWS:
                yield (
                    "changes_under_test",
                    history.changes_under_test(REPOS[0], workflow, branch, sha),
                )
        sighted = history.sighted_runs(REPOS[0], [sha, "f" * 40])
        yield "sighted_runs", {named: sorted(runs) for named, runs in sighted.items()}
        yield "changes_listing", list(history.changes_listing(REPOS[0], sha))
        yield "tested_with", dict(history.tested_with(REPOS[0], [sha, "f" * 40]))
        yield "first_listing of one", dict(history.first_listing(REPOS[0], [sha]))
        yield "changes_based_on", list(history.changes_based_on(REPOS[0], sha))
        for box in BOXES:
            lane = Lane(REPOS[0], SUITES[0], TESTS[0], box, BRANCHES[0])
            yield "pass_started_at", history.pass_started_at(lane, sha)
