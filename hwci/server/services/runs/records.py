# SPDX-License-Identifier: Apache-2.0
"""Run records as lists, answers and streams show them (contract, "Runs and streams"). No figure is
computed here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from hwci.contract.runs import (
    RerunOf,
    Run,
    RunDetail,
    RunItem,
    RunTest,
    TestCounts,
)
from hwci.contract.shape import ListPage
from hwci.engine.facts import TestItem
from hwci.server.errors import NotFoundError
from hwci.server.services import Service
from hwci.server.services.access import Viewer, require_product
from hwci.server.services.known import require_known_box, require_known_product
from hwci.server.storage.ports import Reader
from hwci.server.storage.records import (
    LiveTest,
    RunFilter,
    RunRecord,
    RunWhole,
)
from hwci.wire import limits
from hwci.wire import runs as wire
from hwci.wire.codec import as_json, plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class Runs(Service):
    """Reads run records."""

    async def listed(self, viewer: Viewer, query: wire.RunsQuery) -> ListPage[Run]:
        """List run records."""
        since = seen_since(self._clock())
        fields = query.model_dump(exclude={"page", "limit", "sha"}, by_alias=False)
        wanted = RunFilter(**fields, sha_start=query.sha)

        require_product(viewer, query.repo_key, query.suite)

        def work(reader: Reader) -> ListPage[Run]:
            require_known_product(reader, viewer, query.repo_key, query.suite)
            require_known_box(reader, viewer, query.box_key)
            rows = reader.runs(viewer.org_id, wanted, since, query.offset, query.limit)
            return query.page_of(rows, run_answer)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def show(self, viewer: Viewer, run_record_id: UUID | None) -> RunDetail | bytes:
        """Show one run record. Raises `NotFoundError`.

        It may be long, so it is written in its organization's turn: then one is in memory at once.
        """
        since = seen_since(self._clock())

        def work(reader: Reader) -> bytes:
            whole = (
                None if run_record_id is None else reader.run(viewer.org_id, run_record_id, since)
            )
            if whole is None:
                raise NotFoundError("Run not found")
            require_product(viewer, whole.record.head.repo_key, whole.record.head.suite)
            return as_json(RunDetail, run_detail(whole))

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)


def seen_since(now: datetime) -> datetime:
    """Return the time since when a live run must have sent something, else it is lost."""
    return now - limits.RUN_LOST_AFTER


def run_answer(record: RunRecord) -> Run:
    """Return a run record as the list shows it."""
    return Run(**_fields(record))


def run_detail(whole: RunWhole) -> RunDetail:
    """Return a run record with all that was reported of it."""
    return RunDetail(
        **_fields(whole.record),
        items=(*map(_item, whole.items), *map(_live_item, whole.live)),
        covers_shas=whole.covers_shas,
        changes=whole.changes,
        rerun_of=None
        if whole.rerun_of is None
        else RerunOf(run_id=whole.rerun_of, run_record_id=whole.rerun_of_record),
    )


def run_content(record: RunRecord) -> Mapping[str, object]:
    """Return the content of an event of a run."""
    return {"run": plain(run_answer(record))}


def test_content(test: LiveTest, counts: TestCounts) -> Mapping[str, object]:
    """Return the content of an event of a test. `counts`: of its run."""
    return {"test": plain(RunTest(**_values(test))), "tests": plain(counts)}


def _fields(record: RunRecord) -> dict[str, Any]:
    end = {"ended_at": None, "conclusion": None, "hello_ok": None}
    return {
        **_values(record.head),
        **(end if record.end is None else _values(record.end)),
        "id": record.id,
        "status": record.status,
        "ending": record.ending,
        "tests": record.tests,
        "result": record.result,
    }


def _item(test: TestItem) -> RunItem:
    return RunItem(
        id=test.id,
        outcome=test.outcome,
        attempts=test.attempts,
        duration_s=test.duration_s,
        verdict=test.verdict,
        message=test.message,
    )


def _live_item(test: LiveTest) -> RunItem:
    return RunItem(**_values(test), duration_s=None, verdict=None)


def _values(part: "DataclassInstance") -> dict[str, Any]:
    """Return the fields of a part of a record; `asdict` would copy each value."""
    return {name: getattr(part, name) for name in part.__dataclass_fields__}
