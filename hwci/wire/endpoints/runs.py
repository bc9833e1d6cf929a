# SPDX-License-Identifier: Apache-2.0
"""Run records."""

from hwci.contract.runs.runs import Run, RunDetail
from hwci.contract.shape import ListPage
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.queries import Query
from hwci.wire.runs import RunsQuery, StreamQuery

# fmt: off
LIST_RUNS = Endpoint(
    "runs.list", "GET", "/api/orgs/{orgId}/runs", Who.READER,
    "List run records, latest start first", query=RunsQuery, answer=ListPage[Run]
)
FOLLOW_RUNS = Endpoint(
    "runs.follow", "GET", "/api/orgs/{orgId}/runs/stream", Who.READER,
    "Follow runs as server-sent events; `Last-Event-ID` resumes", query=StreamQuery, also=(409,),
    media="text/event-stream", called=False
)
SOCKET_RUNS = Endpoint(
    "runs.socket", "GET", "/api/orgs/{orgId}/runs/ws", Who.FOLLOWER,
    "Follow runs over a WebSocket, signed in by header or by the first frame", query=StreamQuery,
    status=101, also=(409,), called=False
)
GET_RUN = Endpoint(
    "runs.get", "GET", "/api/orgs/{orgId}/runs/{runId}", Who.READER,
    "Show one run record with all that was reported of it", query=Query, answer=RunDetail
)
# fmt: on
