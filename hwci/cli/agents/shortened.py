# SPDX-License-Identifier: Apache-2.0
"""Answers of the API in the few fields that an agent needs: a word or a number for each question,
`unknown` where data lack, and at most `ROWS` rows beside the number of all.

This module decides which fields these are. It computes no figure, and asks nothing.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from hwci.contract.boxes.benches import BoxHealth, OneBox
    from hwci.contract.failures.failures import Check, FailureEvidence, ResolvedFailure
    from hwci.contract.failures.incidents import Incident
    from hwci.contract.flaky.one_test import OneTest, TriesOnBox
    from hwci.contract.flaky.suspects import AnsweredTest
    from hwci.contract.page.metrics import MetricsPage
    from hwci.contract.runs.commits import BrokenBy
    from hwci.contract.runs.merges import AnnouncedMerge, ExplainedMerge, MergePlan, PlannedRun
    from hwci.contract.runs.one_commit import FailureOfCommit, OneCommit
    from hwci.contract.runs.products import Product
    from hwci.contract.runs.runs import Run
    from hwci.contract.shape import ListPage
    from hwci.contract.shares import Share

Item = TypeVar("Item")
Fields = dict[str, Any]
"""An answer, or a row of one."""

ROWS = 10
"""So many rows an answer has at most."""
UNKNOWN = "unknown"
"""The data do not tell."""
NONE = "none"
"""There is none."""


def product(repo_key: str, suite: str | None) -> str:
    """Name a product as the tools take it: a merge that names no suite is of its repository."""
    return repo_key if suite is None else f"{repo_key}:{suite}"


_LIST = re.compile(r"`?hwci (products|(?:boxes|runs|tests)(?= list))(?: list)?`?")
_FLAG = re.compile(r"--([a-z-]+)(?: [A-Z:]+)?")
_ARGUMENTS = {"repo-key": "product", "sha": "commit"}


def in_tools(words: str) -> str:
    """Return a sentence of the terminal with tools and their arguments for commands and flags."""
    return _FLAG.sub(_argument, _LIST.sub(r"`\1`", words))


def _argument(flag: re.Match[str]) -> str:
    """Name the argument of a tool that is a flag of a command."""
    return f"`{_ARGUMENTS.get(flag[1], flag[1])}`"


def known(value: object) -> object:
    """Return a value as an agent reads it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return UNKNOWN if value is None else value


def rows(page: "ListPage[Item]", row: Callable[[Item], Fields]) -> Fields:
    """Return one page of a list, with the number of all its rows."""
    return {"total": page.total, "page": page.page, "rows": [row(item) for item in page.items]}


def first(items: Sequence[Item], total: int, row: Callable[[Item], object]) -> Fields:
    """Return the first rows of a list that has no pages."""
    return {"total": total, "rows": [row(item) for item in items[:ROWS]]}


def some(values: Sequence[str]) -> Fields:
    """Return names or sentences, of which there may be many."""
    return {"total": len(values), "rows": [*values[:ROWS]]}


def share(of: "Share | None") -> object:
    """Return a share as its counts, and from where to where it is with 95 %."""
    if of is None:
        return UNKNOWN
    certain = (
        {}
        if of.low is None or of.high is None
        else {"between": [round(of.low, 4), round(of.high, 4)]}
    )
    return {"part": of.part, "of": of.total, **certain}


def of_product(listed: "Product") -> Fields:
    """Return a product."""
    return {
        "product": product(listed.repo_key, listed.suite),
        "last_report": known(listed.last_report_at),
        "paths_are_configured": listed.configured,
    }


def of_commit(answer: "OneCommit") -> Fields:
    """Return what became of a commit."""
    return {
        "repository": answer.repo_key,
        "commit": answer.sha,
        "subject": known(answer.subject),
        "ran_on_hardware": answer.checked,
        "compared_with_branch": known(answer.base_branch),
        "runs": first(
            answer.runs,
            len(answer.runs),
            lambda run: {
                "box": run.box_key,
                "branch": run.branch,
                "started": known(run.started_at),
                "reached_hardware": run.hello_ok,
                "tests": run.tests,
                "failed": run.failed,
            },
        ),
        "failures_by_cause": {str(count.whose): count.failures for count in answer.counts},
        "failures": first(
            answer.failures, sum(count.failures for count in answer.counts), of_its_failure
        ),
        "fixes": some([f"{fixed.test_id}: {fixed.says}" for fixed in answer.passes]),
    }


def of_its_failure(failure: "FailureOfCommit") -> Fields:
    """Return what caused a failure of a commit."""
    return {
        "failure_id": str(failure.failure_id),
        "product": product(failure.repo_key, failure.suite),
        "test": failure.test_id,
        "whose": str(failure.whose),
        "how_sure": UNKNOWN if failure.chance is None else round(failure.chance, 4),
        "says": failure.says,
        "evidence": failure.evidence,
        "run_that_would_tell": failure.to_settle or NONE,
        "failed_on": some(failure.failed_on),
        "passed_on": some(failure.passed_on),
    }


def of_merge(merge: "AnnouncedMerge") -> Fields:
    """Return an announced merge, and whether a run checked it."""
    return {
        **_of_any_merge(merge),
        "checked": merge.checked,
        "checked_by": known(merge.run.box_key if merge.checked and merge.run else None),
        "why_not": merge.cause_text or NONE,
    }


def of_unchecked(merge: "ExplainedMerge") -> Fields:
    """Return a merge that no run checked, and why."""
    return {**_of_any_merge(merge), "why_not": merge.cause_text, "to_do": merge.to_do}


def _of_any_merge(merge: "AnnouncedMerge | ExplainedMerge") -> Fields:
    return {
        "product": product(merge.repo_key, merge.suite),
        "commit": merge.sha,
        "subject": known(merge.subject),
        "branch": merge.branch,
        "merged": known(merge.merged_at),
    }


def of_plan(plan: "MergePlan") -> Fields:
    """Return the runs that would check unchecked merges."""

    def row(run: "PlannedRun") -> Fields:
        return {
            "product": product(run.repo_key, run.suite),
            "commit": run.sha,
            "box": run.box_key,
            "checks_merges": run.merges,
            "board_minutes": round(run.board_seconds / 60, 1),
            "command": run.command,
        }

    return {
        "unchecked_merges": plan.unchecked_merges,
        "board_minutes": round(plan.board_seconds / 60, 1),
        "to_fill_in": plan.to_fill_in,
        "runs": rows(plan.runs, row),
        "no_run_can_be_planned_for": first(
            plan.unplanned,
            len(plan.unplanned),
            lambda left: {
                "product": product(left.repo_key, left.suite),
                "merges": left.merges,
                "why": left.missing_text,
            },
        ),
    }


def of_page(page: "MetricsPage") -> Fields:
    """Return the tiles."""
    tiles = page.tiles
    return {
        "from": known(page.period.start),
        "to": known(page.period.end),
        "merges_announced": tiles.merges_checked.announced,
        "merges_checked_on_hardware": tiles.merges_checked.checked,
        "real_firmware_bugs": tiles.real_fw_bugs.real,
        "fixed_by_bench_or_harness": tiles.real_fw_bugs.bench_or_harness,
        "ambiguous_failures": tiles.real_fw_bugs.ambiguous,
        "dismissed_failures": tiles.real_fw_bugs.dismissed,
        "flaky_failures": tiles.flaky_failures.count,
        "runs": tiles.infra_runs.total,
        "runs_that_never_reached_hardware": tiles.infra_runs.infra,
    }


def of_incident(incident: "Incident") -> Fields:
    """Return failures of one cause that are not fixed, or were."""
    return {
        "failure_id": str(incident.id),
        "product": product(incident.repo_key, incident.suite),
        "branch": incident.branch,
        "state": str(incident.label),
        "since": known(incident.since),
        "first_failing_commit": incident.first_commit.sha,
        "by_all_runs": incident.history.says if incident.history else UNKNOWN,
        "suspects": _range(incident.suspects),
        "fixed_by": incident.fix_sha or NONE,
        "look_first": incident.look_first or UNKNOWN,
        "failing_results": incident.runs,
        "tests": first(incident.tests, incident.tests_total, str),
        "boxes": first(incident.boxes, incident.boxes_total, str),
        "passes_on": first(incident.passes_on, incident.passes_on_total, str),
    }


def _range(broken_by: "BrokenBy | None") -> object:
    if broken_by is None:
        return UNKNOWN
    return some([f"{commit.sha} {commit.subject}".strip() for commit in broken_by.commits])


def of_resolved(failure: "ResolvedFailure") -> Fields:
    """Return a resolved failure: what broke it, what fixed it, and its class."""
    return {
        "failure_id": str(failure.id),
        "product": product(failure.repo_key, failure.suite),
        "test": failure.test_id,
        "box": failure.box_key,
        "branch": failure.branch,
        "class": known(failure.failure_class),
        "why": failure.reason_text or NONE,
        "reviewed": f"{failure.review.action} by {failure.status}" if failure.review else NONE,
        "first_failing_commit": failure.first_failure.sha,
        "suspects": _range(failure.broken_by),
        "fixed_by": failure.fix.sha if failure.fix else NONE,
    }


def of_failure(evidence: "FailureEvidence") -> Fields:
    """Return one failure with what decided its class."""
    failure, resolved = evidence.failure, evidence.resolved
    if resolved is not None:
        verdict = of_resolved(resolved)
    else:
        verdict = {
            "failure_id": str(failure.id),
            "product": product(failure.repo_key, failure.suite),
            "test": failure.test_id,
            "box": failure.box_key,
            "branch": failure.branch,
            "class": f"none: it is {failure.label}, and only resolved failures have a class",
            "first_failing_commit": failure.sha,
            "suspects": _range(evidence.broken_by),
        }
    return {
        **verdict,
        "state": str(failure.label),
        "harness_blames": str(failure.verdict),
        "failing_results": failure.items,
        "known_by": failure.known.says if failure.known else NONE,
        "checks": first(evidence.checks, len(evidence.checks), _check),
    }


def _check(check: "Check") -> Fields:
    return {"check": check.reason_text, "decided": check.decided, "found": check.found}


def of_test(test: "OneTest") -> Fields:
    """Return what is known of a test."""

    def row(box: "TriesOnBox") -> Fields:
        return {
            "box": box.box_key,
            "first_attempts_failed": share(box.first),
            "last_run": known(box.last_run_at),
        }

    return {
        "product": product(test.repo_key, test.suite),
        "test": test.test_id,
        "answer": test.answer or UNKNOWN,
        "claim": str(test.statement.claim) if test.statement else UNKNOWN,
        "evidence": test.says or UNKNOWN,
        "first_attempts_failed": share(test.all.first if test.all else None),
        "boxes": first(test.boxes, test.boxes_total, row),
    }


def of_flaky(test: "AnsweredTest") -> Fields:
    """Return a row of "Flakiest tests"."""
    return {
        "product": product(test.repo_key, test.suite),
        "test": test.test_id,
        "answer": test.answer,
        "failed_attempts": test.failed_attempts,
        "attempts": test.attempts,
        "flakes_seen": test.flaky_failures + test.retry_passes,
        "boxes": test.boxes,
    }


def of_box(box: "BoxHealth") -> Fields:
    """Return how a box does against the others."""
    return {
        "box": box.box_key,
        "answer": box.answer,
        "evidence": box.evidence,
        "worse_than_the_others": UNKNOWN if box.comparison is None else box.comparison.named,
        "runs_that_never_reached_hardware": share(box.never_reached),
        "runs_that_lost_the_board": share(box.lost_board),
        "last_run": known(box.last_run_at),
        "last_clean_run": known(box.last_clean_run_at or NONE),
        "note": box.note.text if box.note else NONE,
    }


def of_one_box(answer: "OneBox") -> Fields:
    """Return one box, with the tests that fail on it."""
    return {
        **(
            {"box": answer.box_key, "answer": UNKNOWN} if answer.box is None else of_box(answer.box)
        ),
        "tests_that_it_explains": first(
            answer.tests,
            len(answer.tests),
            lambda test: {"test": test.test_id, "says": test.says},
        ),
        "failed_on_it_alone": first(
            answer.alone,
            answer.alone_total,
            lambda test: {"test": test.test_id, "commits": test.commits},
        ),
    }


def of_run(run: "Run") -> Fields:
    """Return one run."""
    return {
        "run_id": str(run.id),
        "product": product(run.repo_key, run.suite),
        "box": run.box_key,
        "branch": run.branch,
        "commit": run.sha,
        "status": str(run.status),
        "ended_as": known(run.ending),
        "reached_hardware": known(run.hello_ok),
        "started": known(run.started_at),
        "tests": run.tests.total,
        "failed": run.tests.failed,
        "passed_on_a_retry_or_took_more": run.tests.retried,
    }
