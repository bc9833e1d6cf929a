# SPDX-License-Identifier: Apache-2.0
"""What a box itself says: its install, heartbeats, and the live runs that it feeds (contract,
"Boxes").
"""

from hwci.server.http.route import Call, Route, Who
from hwci.wire import limits
from hwci.wire.boxes import InstallBox, InstalledBox
from hwci.wire.runs import OpenedRun, RunEvents, RunHead


async def install(call: Call) -> InstalledBox:
    """Exchange an install token for a key."""
    return await call.services.boxes.install(call.body(InstallBox))


async def heartbeat(call: Call) -> None:
    """Stay online."""
    await call.services.boxes.heartbeat(call.box)


async def open_run(call: Call) -> OpenedRun:
    """Open a live run."""
    return await call.services.live_runs.open(call.box, call.body(RunHead))


async def feed_run(call: Call) -> None:
    """Tell what tests of a live run do."""
    await call.services.live_runs.feed(call.box, call.path_id("runId"), call.body(RunEvents))


ROUTES = (
    Route(
        "POST",
        "/api/boxes/install",
        Who.ANYONE,
        install,
        "Exchange an install token for the box's key; an earlier key of the box stops working",
        body=InstallBox,
        answer=InstalledBox,
        status=201,
        also=(401,),
    ),
    Route(
        "POST",
        "/api/box/heartbeat",
        Who.BOX,
        heartbeat,
        "Stay online, and keep the box's live runs alive",
        status=204,
    ),
    Route(
        "POST",
        "/api/box/runs",
        Who.BOX,
        open_run,
        "Open a live run; it is lost after 10 minutes without event or heartbeat",
        body=RunHead,
        body_bytes=limits.RUN_REPORT_BYTES,
        answer=OpenedRun,
        status=201,
        also=(409,),
    ),
    Route(
        "POST",
        "/api/box/runs/{runId}/events",
        Who.BOX,
        feed_run,
        "Tell which tests of a live run began or ended",
        body=RunEvents,
        body_bytes=limits.RUN_EVENTS_BYTES,
        status=204,
        also=(404, 409),
    ),
)
