# SPDX-License-Identifier: Apache-2.0
"""This module decides what the metrics page and the list of failures show (spec, "Metrics page").

It is the door of the reference. Events come in the order of arrival, for one organization:

    events = [
        ("config", {"repo_key": "fw", "suite": "hil", "firmware_paths": ["src/**"], ...}),
        ("announce", {"repo_key": "fw", "sha": "…", "branch": "main", "merged_at": "…"}),
        ("report", {"repo_key": "fw", "workflow": "hil", "run_id": 1, ...}),
        ("review", {"failure": ("fw", "hil", "uart", "bench-1", "main", "<sha>"),
                    "action": "confirm", "by": {"id": "…", "name": "Ada"}, "at": "…"}),
    ]
    page(events, days=30, as_of="2026-03-01T00:00:00Z")["tiles"]["realFwBugs"]["real"]

The bodies are those of the CI report endpoints. `page` gives the dict of `GET …/ci-metrics`, but
its four tables are whole lists; `failures` gives the whole list of `ci-failures`, `checked_merges`
that of `ci-metrics/checked-merges`. A failure's `id` and `groupId` is its natural key,
`runRecordId` the identity of the run; whoever compares puts both sides in one form. Rows with equal
start times stand in the order of their natural key,
where a server orders them by an id of its own.
"""

from datetime import datetime, timedelta

from tests.reference.checks import changes_of_run, run_of
from tests.reference.facts import (
    Announcement,
    Event,
    Facts,
    FailureKey,
    Item,
    Json,
    Report,
    instant,
)
from tests.reference.facts import written as moment
from tests.reference.lanes import Failure, Group
from tests.reference.reviews import ReviewRefusedError, all_groups, replay
from tests.reference.rows import (
    checked_row,
    failure_row,
    flaky_test_row,
    merge_row,
    newest_merges,
    resolved_row,
)

__all__ = ["ReviewRefusedError", "checked_merges", "failures", "page", "replay"]


class View:
    """The period and the products a reader asked for: `asOf - N x 24 h <= t <= asOf` (§10)."""

    def __init__(self, days: int, as_of: str, repo_key: str | None, suite: str | None) -> None:
        self.days = days
        self.end: datetime = instant(as_of)
        self.start = self.end - timedelta(days=days)
        self.repo_key = repo_key
        self.suite = suite

    def shows(self, repo: str, suite: str | None, when: datetime) -> bool:
        if self.repo_key is not None and repo != self.repo_key:
            return False
        # An announcement without `suite` is not counted in a single-product view.
        if self.suite is not None and suite != self.suite:
            return False
        return self.start <= when <= self.end


def page(
    events: list[Event],
    days: int,
    as_of: str,
    repo_key: str | None = None,
    suite: str | None = None,
) -> Json:
    """The metrics page; its four tables whole."""
    facts = replay(events)
    view = View(days, as_of, repo_key, suite)
    groups, flakes = all_groups(facts)
    resolved = [
        resolved_row(facts, one)
        for one in newest_first(groups)
        if one.label == "resolved" and view.shows(*one.lane[:2], one.first_hit[0].started)
    ]
    merges = [one for one in facts.announcements.values() if in_view(view, one)]
    unchecked = [one for one in merges if not checking(facts, one)]
    reports = [
        report
        for report in facts.reports.values()
        if view.shows(report.repo, report.suite, report.started)
    ]
    flaky = flake_tests(view, flakes)
    return {
        "period": {"days": days, "from": moment(view.start), "to": moment(view.end)},
        "product": None if suite is None else {"repoKey": repo_key, "suite": suite},
        "tiles": {
            "mergesChecked": {
                "checked": len(merges) - len(unchecked),
                "announced": len(merges),
            },
            "realFwBugs": class_counts(resolved),
            "flakyFailures": {"count": len(flaky)},
            "infraRuns": infra_runs(reports),
        },
        "uncheckedMerges": [merge_row(one) for one in newest_merges(unchecked)],
        "realBugs": [row for row in resolved if row["class"] == "real_fw_bug"],
        "otherFailures": [row for row in resolved if row["class"] != "real_fw_bug"],
        "flakiestTests": flakiest_tests(reports, flaky),
    }


def failures(
    events: list[Event],
    days: int,
    as_of: str,
    repo_key: str | None = None,
    suite: str | None = None,
    label: str | None = None,
) -> list[Json]:
    """Every failure that has an item in the period, with its label, newest first."""
    facts = replay(events)
    view = View(days, as_of, repo_key, suite)
    groups, flakes = all_groups(facts)
    labelled: list[tuple[Failure, str, FailureKey | None]]
    labelled = [(one, "flake", None) for one in flakes]
    labelled += [
        (member, one.label, one.failures[0].key) for one in groups for member in one.failures
    ]
    labelled.sort(key=lambda each: each[0].key)
    labelled.sort(key=lambda each: each[0].hits[0][0].started, reverse=True)
    return [
        failure_row(failure, its_label, group_id)
        for failure, its_label, group_id in labelled
        if label in (None, its_label)
        and any(view.shows(*failure.key[:2], report.started) for report, _ in failure.hits)
    ]


def checked_merges(
    events: list[Event],
    days: int,
    as_of: str,
    repo_key: str | None = None,
    suite: str | None = None,
) -> list[Json]:
    """Every merge of the period that a run checked, with the one that started first."""
    facts = replay(events)
    view = View(days, as_of, repo_key, suite)
    merges = [one for one in facts.announcements.values() if in_view(view, one)]
    by_merge = [(merge, checking(facts, merge)) for merge in newest_merges(merges)]
    return [
        checked_row(merge, min(reports, key=lambda report: report.order), subject_of(facts, merge))
        for merge, reports in by_merge
        if reports
    ]


def subject_of(facts: Facts, merge: Announcement) -> str | None:
    """Return the first line of the commit's message as the changes of any run list it (§5.1)."""
    runs = {run_of(one) for one in facts.reports.values() if one.repo == merge.repo}
    told = {
        commit.subject
        for source in (changes_of_run(facts, run) for run in runs)
        if source is not None and source.changes is not None
        for commit in source.changes.commits
        if commit.sha == merge.sha
    }
    return min(told) if told else None


def broken_tests(
    events: list[Event],
    days: int,
    as_of: str,
    repo_key: str | None = None,
    suite: str | None = None,
) -> set[tuple[str, str, str]]:
    """Every test with a failed attempt in the period and without a pass there (§9.3)."""
    view = View(days, as_of, repo_key, suite)
    passed: set[tuple[str, str, str]] = set()
    failed: set[tuple[str, str, str]] = set()
    for report in replay(events).reports.values():
        if report.hello_ok and view.shows(report.repo, report.suite, report.started):
            for item in report.items:
                into = failed if item.failed else passed
                into.add((report.repo, report.suite, item.test))
    return failed - passed


def newest_first(groups: list[Group]) -> list[Group]:
    ordered = sorted(groups, key=lambda one: one.failures[0].key)
    return sorted(ordered, key=lambda one: one.first_hit[0].started, reverse=True)


def in_view(view: View, merge: Announcement) -> bool:
    return view.shows(merge.repo, merge.suite, merge.merged)


def checking(facts: Facts, merge: Announcement) -> list[Report]:
    """Reached the hardware, recorded a test, and tested the commit or a push with it (§9.1)."""
    return [
        report
        for report in facts.reports.values()
        if report.hello_ok
        and report.items
        and report.repo == merge.repo
        and merge.suite in (None, report.suite)
        and (merge.sha == report.sha or merge.sha in report.covers)
    ]


def class_counts(resolved: list[Json]) -> Json:
    def count(failure_class: str) -> int:
        return len([row for row in resolved if row["class"] == failure_class])

    return {
        "real": count("real_fw_bug"),
        "benchOrHarness": count("bench_or_harness"),
        "ambiguous": count("ambiguous"),
        "dismissed": count("dismissed"),
    }


def infra_runs(reports: list[Report]) -> Json:
    """Run reports are counted, not runs; parts after the first are not (§1.9, §9.2)."""
    counted = [report for report in reports if not report.is_later_part]
    lost = [report for report in counted if not report.hello_ok]
    return {"infra": len(lost), "total": len(counted)}


def flake_tests(view: View, flakes: list[Failure]) -> list[tuple[str, str, str]]:
    """The test of each failing item labelled Flake, by its run's start time (§4.6)."""
    return [
        failure.key[:3]
        for failure in flakes
        for report, _ in failure.hits
        if view.shows(report.repo, report.suite, report.started)
    ]


def flakiest_tests(reports: list[Report], flaky: list[tuple[str, str, str]]) -> list[Json]:
    """Tests with a failed attempt, the highest rate first (§9.3)."""
    hits: dict[tuple[str, str, str], list[tuple[Report, Item]]] = {}
    for report in reports:
        for item in report.items if report.hello_ok else ():
            test = (report.repo, report.suite, item.test)
            hits.setdefault(test, []).append((report, item))
    rows = [flaky_test_row(test, hits[test], flaky.count(test)) for test in sorted(hits)]
    listed = [row for row in rows if row["failedAttempts"]]
    return sorted(listed, key=lambda row: (-row["flakeRate"], -row["failedAttempts"]))
