# SPDX-License-Identifier: Apache-2.0
"""Run records as lists, answers and streams show them (contract, "Runs and streams"). No figure is
computed here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from hwci.contract.shape import ListPage
from hwci.server.errors import NotFoundError
from hwci.server.services import Service
from hwci.server.services.access import Viewer, require_product
from hwci.server.services.known import require_known_box, require_known_product
from hwci.server.storage.ports import Reader
from hwci.server.storage.records import (
    LiveTest,
    RunEnd,
    RunFilter,
    RunHead,
    RunRecord,
    RunWhole,
    TestCounts,
)
from hwci.wire import limits
from hwci.wire import runs as wire
from hwci.wire.codec import as_json


class Runs(Service):
    """Reads run records."""

    async def listed(self, viewer: Viewer, query: wire.RunsQuery) -> ListPage[wire.RunAnswer]:
        """List run records."""
        since = seen_since(self._clock())
        given = query.model_dump(exclude={"page", "limit", "sha"}, by_alias=False)
        wanted = RunFilter(**given, sha_start=query.sha)

        require_product(viewer, query.repo_key, query.suite)

        def work(reader: Reader) -> ListPage[wire.RunAnswer]:
            require_known_product(reader, viewer, query.repo_key, query.suite)
            require_known_box(reader, viewer, query.box_key)
            rows = reader.runs(viewer.org_id, wanted, since, query.offset, query.limit)
            return query.page_of(rows, run_answer)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def show(self, viewer: Viewer, run_record_id: UUID | None) -> wire.RunDetail | bytes:
        """Show one run record. Raises `NotFoundError`.

        It may be long, so it is written in its organization's turn: then one is in memory at once.
        """
        since = seen_since(self._clock())

        def work(reader: Reader) -> bytes:
            found = (
                None if run_record_id is None else reader.run(viewer.org_id, run_record_id, since)
            )
            if found is None:
                raise NotFoundError("Run not found")
            require_product(viewer, found.record.head.repo_key, found.record.head.suite)
            return as_json(wire.RunDetail, run_detail(found))

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)


def seen_since(now: datetime) -> datetime:
    """Return the time since when a live run must have sent something, else it is lost."""
    return now - limits.RUN_LOST_AFTER


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
        rerun_of=None
        if whole.rerun_of is None
        else wire.RerunOf(run_id=whole.rerun_of, run_record_id=whole.rerun_of_record),
    )


def run_content(record: RunRecord) -> Mapping[str, object]:
    """Return the content of an event of a run."""
    return {"run": run_answer(record).model_dump(mode="json")}


def test_content(test: LiveTest, counts: TestCounts) -> Mapping[str, object]:
    """Return the content of an event of a test. `counts`: of its run."""
    return {
        "test": wire.RunTest.model_validate(test).model_dump(mode="json"),
        "tests": wire.TestCounts.model_validate(counts).model_dump(mode="json"),
    }


def _fields(record: RunRecord) -> dict[str, object]:
    result = None if record.result is None else wire.TestResult.model_validate(record.result)
    end = {"ended_at": None, "conclusion": None, "hello_ok": None}
    return {
        **_values(record.head),
        **(end if record.end is None else _values(record.end)),
        "id": record.id,
        "status": record.status,
        "ending": record.ending,
        "tests": wire.TestCounts.model_validate(record.tests),
        "result": result,
    }


def _items(whole: RunWhole) -> Sequence[wire.RunItem]:
    live = [wire.RunItem(**_values(test), duration_s=None, verdict=None) for test in whole.live]
    return [wire.RunItem.model_validate(item) for item in whole.items] + live


def _values(part: RunHead | RunEnd | LiveTest) -> dict[str, object]:
    """Return the fields of a part of a record; `asdict` would copy each value."""
    return {name: getattr(part, name) for name in part.__dataclass_fields__}
