# SPDX-License-Identifier: Apache-2.0
"""Run records as members and streams are told them. No figure is computed here."""

from collections.abc import Mapping, Sequence

from hwci.engine.facts import Changes
from hwci.server.storage.records import LiveTest, RunRecord, RunWhole
from hwci.wire import runs as wire


def run_answer(record: RunRecord) -> wire.RunAnswer:
    """Give a run record as the list shows it."""
    return wire.RunAnswer.model_validate(_fields(record))


def run_detail(whole: RunWhole) -> wire.RunDetail:
    """Give a run record with all that was told of it."""
    return wire.RunDetail(
        **_fields(whole.record),
        items=_items(whole),
        covers_shas=whole.covers_shas,
        changes=None if whole.changes is None else _changes(whole.changes),
    )


def run_told(record: RunRecord) -> Mapping[str, object]:
    """Give what an event says of a run."""
    return {"run": run_answer(record).model_dump(mode="json")}


def test_told(test: LiveTest) -> Mapping[str, object]:
    """Give what an event says of a test."""
    told = wire.RunTest(id=test.id, outcome=test.outcome, attempts=test.attempts)
    return {"test": told.model_dump(mode="json")}


def _fields(record: RunRecord) -> dict[str, object]:
    head, end, tests = record.head, record.end, record.tests
    return {
        "id": record.id,
        "repo_key": head.repo_key,
        "suite": head.suite,
        "workflow": head.workflow,
        "run_id": head.run_id,
        "run_attempt": head.run_attempt,
        "box_key": head.box_key,
        "trigger": head.trigger,
        "branch": head.branch,
        "sha": head.sha,
        "status": record.status,
        "started_at": head.started_at,
        "ended_at": None if end is None else end.ended_at,
        "conclusion": None if end is None else end.conclusion,
        "hello_ok": None if end is None else end.hello_ok,
        "tests": wire.TestCounts(
            total=tests.total, passed=tests.passed, failed=tests.failed, retried=tests.retried
        ),
    }


def _items(whole: RunWhole) -> Sequence[wire.RunItem]:
    """Give the tests, reported or as they stand; a record has only one of the two."""
    return [
        wire.RunItem(
            id=item.id,
            outcome=item.outcome,
            attempts=item.attempts,
            duration_s=item.duration_s,
            verdict=item.verdict,
        )
        for item in whole.items
    ] + [
        wire.RunItem(
            id=test.id, outcome=test.outcome, attempts=test.attempts, duration_s=None, verdict=None
        )
        for test in whole.live
    ]


def _changes(changes: Changes) -> wire.RunChanges:
    return wire.RunChanges(
        base_sha=changes.base_sha,
        commits=[
            wire.RunCommit(
                sha=commit.sha,
                subject=commit.subject,
                committed_at=commit.committed_at,
                files=commit.files,
                files_truncated=commit.files_truncated,
            )
            for commit in changes.commits
        ],
        truncated=changes.truncated,
    )
