# SPDX-License-Identifier: Apache-2.0
"""This module decides what stands in the rows of the tables (the JSON of the HTTP API).

It does not know which rows a view shows.
"""

from tests.reference.checks import REASONS, broken_by, reason_of
from tests.reference.facts import Announcement, Facts, Item, Json, Report, Review
from tests.reference.facts import written as moment
from tests.reference.lanes import Failure, Group, passing_reports
from tests.reference.reviews import class_and_reason


def resolved_row(facts: Facts, group: Group) -> Json:
    repo, suite, test, box, branch = group.lane
    _, item = group.first_hit
    failure_class, reason = class_and_reason(facts, group)
    automatic = reason_of(facts, group)
    return {
        "id": group.failures[0].key,
        "repoKey": repo,
        "suite": suite,
        "testId": test,
        "boxKey": box,
        "branch": branch,
        "firstFailure": first_failure(group),
        "lastFailingSha": group.failures[-1].sha,
        "failingCommits": len(group.failures),
        "brokenBy": broken_by(facts, group),
        "fix": fix_of(facts, group),
        "verdict": item.verdict,
        "class": failure_class,
        "reason": reason,
        "reasonText": REASONS[reason][1],
        "automatic": {
            "class": REASONS[automatic][0],
            "reason": automatic,
            "reasonText": REASONS[automatic][1],
        },
        "review": review_of(group.review),
        "status": "Automatic" if group.review is None else group.review.by["name"],
    }


def first_failure(group: Group) -> Json:
    report, _ = group.first_hit
    return {
        "sha": report.sha,
        "startedAt": moment(report.started),
        "workflow": report.workflow,
        "runId": report.shown_run_id,
        "runAttempt": report.attempt,
        "runRecordId": (report.repo, report.run_id, report.attempt, report.box),
        "ciRun": report.ci_run,
    }


def fix_of(facts: Facts, group: Group) -> Json | None:
    if group.fix is None:
        return None
    passing = passing_reports(facts, group.lane, group.fix)
    return {"sha": group.fix, "startedAt": moment(min(report.started for report in passing))}


def review_of(review: Review | None) -> Json | None:
    if review is None:
        return None
    return {"action": review.action, "by": review.by, "at": review.at}


def failure_row(failure: Failure, label: str, group_id: object) -> Json:
    repo, suite, test, box, branch, sha = failure.key
    return {
        "id": failure.key,
        "repoKey": repo,
        "suite": suite,
        "testId": test,
        "boxKey": box,
        "branch": branch,
        "sha": sha,
        "label": label,
        "items": len(failure.hits),
        "firstStartedAt": moment(failure.hits[0][0].started),
        "lastStartedAt": moment(failure.hits[-1][0].started),
        "verdict": failure.hits[0][1].verdict,
        "groupId": group_id,
    }


def newest_merges(merges: list[Announcement]) -> list[Announcement]:
    ordered = sorted(merges, key=lambda one: (one.repo, one.suite or "", one.sha))
    ordered.sort(key=lambda one: one.merged, reverse=True)
    return ordered


def merge_row(merge: Announcement) -> Json:
    return {
        "repoKey": merge.repo,
        "suite": merge.suite,
        "sha": merge.sha,
        "branch": merge.branch,
        "mergedAt": moment(merge.merged),
        "ciUrl": merge.ci_url,
    }


def checked_row(merge: Announcement, first: Report, subject: str | None) -> Json:
    """`runRecordId` is the identity of the run, as CI knows it."""
    return {
        **merge_row(merge),
        "subject": subject,
        "firstRun": {
            "startedAt": moment(first.started),
            "runId": first.shown_run_id,
            "runAttempt": first.attempt,
            "runRecordId": (first.repo, first.shown_run_id, first.attempt, first.box),
            "ciRun": first.ci_run,
            "suite": first.suite,
            "boxKey": first.box,
            "sha": first.sha,
        },
    }


def flaky_test_row(
    test: tuple[str, str, str], hits: list[tuple[Report, Item]], flakes: int
) -> Json:
    """A test that passed on its third attempt adds two failed attempts (spec, metric rule 1)."""
    attempts = sum(item.attempts for _, item in hits)
    failed = sum(item.attempts if item.failed else item.attempts - 1 for _, item in hits)
    return {
        "repoKey": test[0],
        "suite": test[1],
        "testId": test[2],
        "boxes": len({report.box for report, _ in hits}),
        "runReports": len(hits),
        "attempts": attempts,
        "failedAttempts": failed,
        "retryPasses": len([item for _, item in hits if not item.failed and item.attempts > 1]),
        "flakyFailures": flakes,
        "flakeRate": 100 * failed / attempts,
    }
