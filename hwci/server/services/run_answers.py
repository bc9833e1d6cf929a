# SPDX-License-Identifier: Apache-2.0
"""Run records as lists, answers and streams show them. No figure is computed here."""

from collections.abc import Mapping, Sequence

from hwci.server.storage.records import LiveTest, RunRecord, RunWhole
from hwci.wire import runs as wire


def run_answer(record: RunRecord) -> wire.RunAnswer:
    """Return a run record as the list shows it."""
    return wire.RunAnswer.model_validate(_fields(record))


def run_detail(whole: RunWhole) -> wire.RunDetail:
    """Return a run record with all that was reported of it."""
    return wire.RunDetail(
        **_fields(whole.record),
        items=_items(whole),
        covers_shas=whole.covers_shas,
        changes=None if whole.changes is None else wire.RunChanges.model_validate(whole.changes),
    )


def run_content(record: RunRecord) -> Mapping[str, object]:
    """Return the content of an event of a run."""
    return {"run": run_answer(record).model_dump(mode="json")}


def test_content(test: LiveTest) -> Mapping[str, object]:
    """Return the content of an event of a test."""
    return {"test": wire.RunTest.model_validate(test).model_dump(mode="json")}


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
        "tests": wire.TestCounts.model_validate(tests),
    }


def _items(whole: RunWhole) -> Sequence[wire.RunItem]:
    """Return the tests, reported or live; a record has only one of the two."""
    live = [
        wire.RunItem(
            id=test.id, outcome=test.outcome, attempts=test.attempts, duration_s=None, verdict=None
        )
        for test in whole.live
    ]
    return [wire.RunItem.model_validate(item) for item in whole.items] + live
