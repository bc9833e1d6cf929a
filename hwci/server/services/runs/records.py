# SPDX-License-Identifier: Apache-2.0
"""Run records as lists, answers and streams show them (contract, "Runs and streams"). No figure is
computed here.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from hwci.contract.runs.runs import Run, RunDetail, RunTest, TestCounts
from hwci.contract.shape import ListPage
from hwci.server.errors import NotFoundError
from hwci.server.services import Service
from hwci.server.services.access import Viewer, require_product
from hwci.server.services.known import require_known_box, require_known_product
from hwci.server.services.known_failures import run_with_known
from hwci.server.storage.ports import Reader
from hwci.server.storage.records import RunFilter
from hwci.wire import limits
from hwci.wire import runs as wire
from hwci.wire.codec import as_json, plain


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
            return query.page_of(rows)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def show(self, viewer: Viewer, run_record_id: UUID | None) -> RunDetail | bytes:
        """Show one run record. Raises `NotFoundError`.

        It may be long, so it is written in its organization's turn: then one is in memory at once.
        """
        since = seen_since(self._clock())

        def work(reader: Reader) -> bytes:
            run = None if run_record_id is None else reader.run(viewer.org_id, run_record_id, since)
            if run is None:
                raise NotFoundError("Run not found")
            require_product(viewer, run.repo_key, run.suite)
            return as_json(RunDetail, run_with_known(reader.history(viewer.org_id), run))

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)


def seen_since(now: datetime) -> datetime:
    """Return the time since when a live run must have sent something, else it is lost."""
    return now - limits.RUN_LOST_AFTER


def run_content(run: Run) -> Mapping[str, object]:
    """Return the content of an event of a run."""
    return {"run": plain(run)}


def test_content(test: RunTest, counts: TestCounts) -> Mapping[str, object]:
    """Return the content of an event of a test. `counts`: of its run."""
    return {"test": plain(test), "tests": plain(counts)}
