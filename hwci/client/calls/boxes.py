# SPDX-License-Identifier: Apache-2.0
"""Boxes, as people manage them and as they report themselves, and run records. Streams of events
are not calls: see `hwci.client.following`.
"""

from datetime import datetime
from typing import TypedDict, Unpack

from hwci.client._call import Call, Credential
from hwci.client.calls._writing import Id, body_of, listing, org_path, query_of, segment, written
from hwci.engine.vocabulary import RunStatus
from hwci.wire import boxes, limits, runs
from hwci.wire.base import ListPage
from hwci.wire.runs import RunAnswer, RunDetail, RunsQuery


def list_boxes(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[boxes.BoxAnswer]]:
    """List the boxes."""
    return listing(_boxes(org_id), ListPage[boxes.BoxAnswer], page, limit)


def create_box(org_id: Id, name: str) -> Call[boxes.BoxInstallAnswer]:
    """Create a box: the answer is the only one that ever holds its install token."""
    body = body_of(boxes.NewBox, name=name)
    return Call("POST", _boxes(org_id), boxes.BoxInstallAnswer, 201, body=body, repeatable=False)


def new_install_token(org_id: Id, box_id: Id) -> Call[boxes.BoxInstallAnswer]:
    """Make a token for a new install of a box; earlier tokens stop working."""
    path = f"{_boxes(org_id)}/{segment(box_id)}/install-token"
    return Call("POST", path, boxes.BoxInstallAnswer, 201, repeatable=False)


def install_box(install_token: str) -> Call[boxes.InstalledBox]:
    """Exchange an install token, once, for the box's key."""
    return Call(
        "POST",
        "/api/boxes/install",
        boxes.InstalledBox,
        201,
        credential=Credential.NONE,
        body=body_of(boxes.InstallBox, install_token=install_token),
        repeatable=False,
    )


def heartbeat() -> Call[None]:
    """Keep the box online, and its live runs alive."""
    return Call("POST", "/api/box/heartbeat", None, 204, credential=Credential.BOX_KEY)


def open_run(body: runs.RunHead) -> Call[runs.OpenedRun]:
    """Open a live run; the same run again keeps its id."""
    return Call(
        "POST",
        "/api/box/runs",
        runs.OpenedRun,
        201,
        credential=Credential.BOX_KEY,
        body=written(body),
    )


def feed_run(run_record_id: Id, body: runs.RunEvents) -> Call[None]:
    """Report which tests of a live run began or ended."""
    path = f"/api/box/runs/{segment(run_record_id)}/events"
    return Call("POST", path, None, 204, credential=Credential.BOX_KEY, body=written(body))


def _boxes(org_id: Id) -> str:
    return f"{org_path(org_id)}/boxes"


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
