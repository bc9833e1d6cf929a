# SPDX-License-Identifier: Apache-2.0
"""Run records. Streams of their events are no calls: see `hwci.client.following`."""

from datetime import datetime
from typing import TypedDict, Unpack

from hwci.client._call import Call
from hwci.client.calls._writing import Id, org_path, query_of, segment
from hwci.engine.vocabulary import RunStatus
from hwci.wire.base import ListPage
from hwci.wire.runs import RunAnswer, RunDetail, RunsQuery


class RunFilters(TypedDict, total=False):
    """What narrows the list of runs, and the page of it. `sha` is the beginning of a commit.
    `retry_pass` and `failed_attempt` ask for a test's own, and need `test_id`. Runs that began from
    `start` to `end`, both included: the API calls them `from` and `to`.
    """

    repo_key: str | None
    suite: str | None
    branch: str | None
    box_key: str | None
    sha: str | None
    status: RunStatus | None
    hello_ok: bool | None
    test_id: str | None
    retry_pass: bool | None
    failed_attempt: bool | None
    start: datetime | None
    end: datetime | None
    page: int
    limit: int


def list_runs(org_id: Id, **wanted: Unpack[RunFilters]) -> Call[ListPage[RunAnswer]]:
    """List run records, latest start first."""
    query = query_of(RunsQuery, **wanted)
    return Call("GET", f"{org_path(org_id)}/runs", ListPage[RunAnswer], 200, query=query)


def get_run(org_id: Id, run_record_id: Id) -> Call[RunDetail]:
    """Ask for one run record with all that was told of it."""
    return Call("GET", f"{org_path(org_id)}/runs/{segment(run_record_id)}", RunDetail, 200)
