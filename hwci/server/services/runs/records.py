# SPDX-License-Identifier: Apache-2.0
"""Run records as members read them (contract, "Runs and streams")."""

from uuid import UUID

from hwci.server.clock import Clock
from hwci.server.errors import NotFoundError
from hwci.server.services.access import Member
from hwci.server.services.run_answers import run_answer, run_detail
from hwci.server.services.runs.live_runs import heard_since
from hwci.server.storage.ports import Reader, Storage
from hwci.server.storage.records import RunFilter
from hwci.wire import runs as wire
from hwci.wire.base import ListPage


class Runs:
    """Reads run records."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def listed(self, member: Member, query: wire.RunsQuery) -> ListPage[wire.RunAnswer]:
        """List run records."""
        since = heard_since(self._clock())
        wanted = RunFilter(
            repo_key=query.repo_key,
            suite=query.suite,
            branch=query.branch,
            box_key=query.box_key,
            sha_start=query.sha,
            status=query.status,
            hello_ok=query.hello_ok,
            test_id=query.test_id,
            retry_pass=query.retry_pass,
            failed_attempt=query.failed_attempt,
            start=query.start,
            end=query.end,
        )

        def work(reader: Reader) -> ListPage[wire.RunAnswer]:
            found = reader.runs(member.org_id, wanted, since, query.offset, query.limit)
            items = [run_answer(record) for record in found.items]
            return query.page_of(items, found.total)

        return await self._storage.read(work, organization=member.org_id)

    async def show(self, member: Member, run_record_id: UUID | None) -> wire.RunDetail:
        """Show one run record. Raises `NotFoundError`."""
        since = heard_since(self._clock())

        def work(reader: Reader) -> wire.RunDetail:
            found = (
                None if run_record_id is None else reader.run(member.org_id, run_record_id, since)
            )
            if found is None:
                raise NotFoundError("Run not found")
            return run_detail(found)

        return await self._storage.read(work, organization=member.org_id)
