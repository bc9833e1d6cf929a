# SPDX-License-Identifier: Apache-2.0
"""Ninety days of believable history: what the CI of a small firmware team would have sent.

This module decides which runs took place and what they reported. It computes no metric: the demo
gives these bodies to the server, and the page says what it finds in them. One seed gives one
history on every day: it is drawn for the end of the story (`story.py`), and then moved as a whole.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

from hwci.contract.vocabulary import Outcome, Trigger
from hwci.demo.bench import Bench
from hwci.demo.branches import SECONDS_APART, Push, Trouble, plans, pushes, troubles
from hwci.demo.project import MAIN, PRODUCTS, RELEASE, REPOSITORY, SENSOR, SITE, DemoProduct
from hwci.demo.story import THE_END, is_weekend, midnight, moment
from hwci.engine.patterns import PathList
from hwci.wire.reports import (
    Changes,
    CommitItem,
    MergeAnnouncement,
    RunReport,
    SuiteConfiguration,
    TestItem,
)

Body = MergeAnnouncement | RunReport | SuiteConfiguration
Timed = tuple[datetime, MergeAnnouncement | RunReport]

FIRST_RUN_ID = 9_100_000_001
MANUAL_WORKFLOW = "hil-manual"
COMMITS_SENT = 250
CHANCE_OF_A_RETRY = 0.85
CHANCE_OF_A_RETRY_IN_VAIN = 0.12


@dataclass(frozen=True, slots=True)
class Job:
    """A run that CI was asked for; `place` is that of the tested commit on its branch."""

    at: datetime
    product: DemoProduct
    trigger: Trigger
    workflow: str
    branch: str
    place: int
    covers: tuple[str, ...] = ()


def history(now: datetime, seed: int = 7, days: int = 90) -> Iterator[Body]:
    """Return every body in the order in which CI sends them; the story ends `now`."""
    by = now.astimezone(UTC).replace(microsecond=0) - THE_END
    for product in PRODUCTS:
        yield product.configuration()
    for at, body in sorted(_sent(seed, days), key=lambda timed: timed[0]):
        if at <= THE_END:
            yield _moved(body, by)


def _sent(seed: int, days: int) -> Iterable[Timed]:
    """Draw the story; return what was sent in it."""
    rng = Random(seed)  # noqa: S311 - a story, not a secret
    planned = plans(rng, days)
    pushed = pushes(planned, seed)
    troubled = troubles(planned, pushed, days)
    jobs = [*_merge_jobs(pushed), *_nightly_jobs(pushed, days)]
    jobs += [*_manual_jobs(pushed, days), *_bisections(troubled, pushed)]
    return [*_announcements(pushed), *_Lab(rng, pushed, Bench(rng, troubled)).run(jobs)]


def _moved(body: MergeAnnouncement | RunReport, by: timedelta) -> Body:
    """Return the body with each of its times so much later."""
    if isinstance(body, MergeAnnouncement):
        return body.model_copy(update={"merged_at": body.merged_at + by})
    times = {"started_at": body.started_at + by, "ended_at": body.ended_at + by}
    if body.changes is None:
        return body.model_copy(update=times)
    commits = [
        commit.model_copy(update={"committed_at": commit.committed_at and commit.committed_at + by})
        for commit in body.changes.commits
    ]
    changes = body.changes.model_copy(update={"commits": commits})
    return body.model_copy(update={**times, "changes": changes})


TRIGGER_PATHS = {
    product: PathList.parse(product.configuration().trigger_paths or ()) for product in PRODUCTS
}


def _triggered(push: Push) -> list[DemoProduct]:
    """Products whose `trigger_paths` a push touched."""
    files = _files(push)
    return [product for product in PRODUCTS if any(map(TRIGGER_PATHS[product].matches, files))]


def _files(push: Push) -> list[str]:
    return [file for commit in push.commits for file in commit.files]


def _announcements(pushed: Sequence[Push]) -> Iterable[Timed]:
    """One per product; the release branch still has an older workflow, which names no suite."""
    for push in pushed:
        suites = [product.suite for product in _triggered(push)] if push.branch == MAIN else [None]
        for suite in suites:
            yield (
                push.at + timedelta(seconds=20),
                MergeAnnouncement(
                    repo_key=REPOSITORY,
                    suite=suite,
                    sha=push.commits[-1].sha,
                    branch=push.branch,
                    merged_at=push.at,
                ),
            )


def _merge_jobs(pushed: Sequence[Push]) -> Iterable[Job]:
    """Of two pushes seconds apart only the second is tested: CI keeps one pending run a product."""
    for branch in (MAIN, RELEASE):
        own = [push for push in pushed if push.branch == branch]
        overtaken = {
            (push.head, product)
            for push, later in pairwise(own)
            if later.at - push.at < SECONDS_APART
            for product in _triggered(later)
        }
        for push in own:
            for product in _triggered(push):
                if (push.head, product) not in overtaken:
                    yield _merge_job(push, product)


def _merge_job(push: Push, product: DemoProduct) -> Job:
    covers = tuple(commit.sha for commit in push.commits)
    at = push.at + timedelta(minutes=3)
    workflow = product.merge_workflow
    return Job(at, product, Trigger.MERGE, workflow, push.branch, push.head, covers)


def _head(pushed: Sequence[Push], at: datetime) -> int | None:
    return max(
        (push.head for push in pushed if push.branch == MAIN and push.at <= at), default=None
    )


def _nightly_jobs(pushed: Sequence[Push], days: int) -> Iterable[Job]:
    for days_ago in range(days, -1, -1):
        for product in PRODUCTS:
            at = midnight(days_ago) + timedelta(hours=2)
            head = _head(pushed, at)
            if head is not None:
                yield Job(at, product, Trigger.NIGHTLY, product.nightly_workflow, MAIN, head)


def _manual_jobs(pushed: Sequence[Push], days: int) -> Iterable[Job]:
    """Someone runs the head by hand twice a week."""
    for days_ago in range(days // 3 * 3, -1, -3):
        at = moment(days_ago, 18.5)
        head = _head(pushed, at - timedelta(hours=2))
        if head is not None and not is_weekend(at):
            product = PRODUCTS[days_ago // 3 % len(PRODUCTS)]
            yield Job(at, product, Trigger.MANUAL, MANUAL_WORKFLOW, MAIN, head)


def _bisections(troubled: Sequence[Trouble], pushed: Sequence[Push]) -> Iterable[Job]:
    """The commits of a breaking push, run by hand one by one, the newest first."""
    for trouble in troubled:
        if not trouble.incident.bisected or trouble.first is None:
            continue
        push = next(push for push in pushed if push.branch == MAIN and push.head == trouble.first)
        for step, place in enumerate(range(push.head - 1, push.first - 1, -1)):
            at = push.at + timedelta(hours=2, minutes=30 * step)
            yield Job(at, SENSOR, Trigger.MANUAL, MANUAL_WORKFLOW, MAIN, place)


class _Lab:
    """Runs jobs one after the other on each product's boxes, and reports them."""

    def __init__(self, rng: Random, pushed: Sequence[Push], bench: Bench) -> None:
        self._rng = rng
        self._bench = bench
        self._commits: dict[str, list[CommitItem]] = defaultdict(list)
        for push in pushed:
            self._commits[push.branch] += push.commits
        self._tested: dict[tuple[str, str], int] = {}
        self._free: dict[DemoProduct, datetime] = {}
        self._run_id = FIRST_RUN_ID

    def run(self, jobs: Iterable[Job]) -> Iterable[Timed]:
        """Report every attempt of every job, one report per box."""
        for job in sorted(jobs, key=lambda job: job.at):
            self._run_id += self._rng.randint(40, 400)
            changes = self._changes(job)
            start = max(job.at, self._free.get(job.product, job.at))
            first = _Attempt(job, changes, 1, start)
            self._run(first, job.product.boxes)
            yield from first.reports
            if first.again:
                later = first.end + timedelta(minutes=self._rng.randint(2, 25))
                second = _Attempt(job, changes, 2, later)
                self._run(second, first.again)
                yield from second.reports

    def _changes(self, job: Job) -> Changes | None:
        """Commits since the workflow last tested the branch; a manual run reports none."""
        if job.workflow == MANUAL_WORKFLOW:
            return None
        commits = self._commits[job.branch]
        last = self._tested.get((job.workflow, job.branch))
        if last is None:
            return Changes(base_sha=None, commits=[commits[job.place]])
        since = commits[last + 1 : job.place + 1]
        return Changes(
            base_sha=commits[last].sha,
            commits=since[-COMMITS_SENT:],
            truncated=len(since) > COMMITS_SENT,
        )

    def _run(self, attempt: "_Attempt", boxes: Sequence[str]) -> None:
        job, start = attempt.job, attempt.start
        for box in boxes:
            if not self._bench.runner_is_there(box, start):
                continue
            hello = self._bench.answers(box, start)
            items, flaked = (
                self._bench.results(job.product, box, job.branch, job.place, start)
                if hello
                else ([], False)
            )
            report = self._report(attempt, box, items, hello)
            attempt.add(report, self._is_repeated(report, flaked))
            if hello:
                self._tested[job.workflow, job.branch] = job.place
        self._free[job.product] = attempt.end + timedelta(minutes=1)

    def _is_repeated(self, report: RunReport, flaked: bool) -> bool:
        if report.conclusion == "success":
            return False
        hopeful = flaked or not report.hello_ok
        chance = CHANCE_OF_A_RETRY if hopeful else CHANCE_OF_A_RETRY_IN_VAIN
        return self._rng.random() < chance

    def _report(
        self, attempt: "_Attempt", box: str, items: list[TestItem], hello: bool
    ) -> RunReport:
        job = attempt.job
        seconds = 45 + round(sum(item.duration_s for item in items))
        good = hello and all(item.outcome is Outcome.PASS for item in items)
        return RunReport(
            repo_key=REPOSITORY,
            workflow=job.workflow,
            suite=job.product.suite,
            run_id=self._run_id,
            run_attempt=attempt.number,
            trigger=job.trigger,
            branch=job.branch,
            sha=self._commits[job.branch][job.place].sha,
            started_at=attempt.start,
            ended_at=attempt.start + timedelta(seconds=seconds),
            ci_url=f"{SITE}/actions/runs/{self._run_id}/attempts/{attempt.number}",
            conclusion="success" if good else "failure",
            hello_ok=hello,
            box_key=box,
            tests=items,
            covers_shas=list(job.covers) or None,
            changes=attempt.changes,
        )


class _Attempt:
    """One attempt of a job: what it reported, the boxes to try again, when its last box ended."""

    def __init__(self, job: Job, changes: Changes | None, number: int, start: datetime) -> None:
        self.job, self.changes, self.number, self.start = job, changes, number, start
        self.reports: list[Timed] = []
        self.again: list[str] = []
        self.end = start

    def add(self, report: RunReport, repeated: bool) -> None:
        """Take one box's report; it is sent seconds after its end."""
        self.reports.append((report.ended_at + timedelta(seconds=5), report))
        self.again += [report.box_key] if repeated else []
        self.end = max(self.end, report.ended_at)
