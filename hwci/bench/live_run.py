# SPDX-License-Identifier: Apache-2.0
"""A live run beside the tests: a box that has its key opens it, sends heartbeats, and which tests
began and ended (contract, "Boxes"). Whatever goes wrong here is a notice: the tests go on, and are
reported at their end. How result files are read, it does not know.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import ValidationError

from hwci.bench.box_key import BoxCredential
from hwci.ci.job import Job
from hwci.ci.reporting import RunRequest, placed
from hwci.client.errors import AnswerShapeError, HwciError

if TYPE_CHECKING:
    from hwci.ci.reporting.tests_so_far import TestsSoFar
    from hwci.client import Client
    from hwci.wire.runs import RunHead

EVERY_S = 60.0
FEED_S = 5.0
"""All benches behind one address share its limit of requests."""
REST = 20
"""Reading files takes at most one part in so many of the time: the tests need the machine."""
_TRY_S = 10.0
_HEAD = (
    "repo_key",
    "workflow",
    "suite",
    "run_id",
    "run_attempt",
    "trigger",
    "branch",
    "sha",
    "started_at",
    "ci_run",
    "ci_url",
)


@contextmanager
def live_run(
    credential: BoxCredential,
    job: Job,
    boxes: Sequence[str],
    request: RunRequest,
    notify: Callable[[str], None],
) -> Iterator[None]:
    """Keep a live run open during the block, if the run is one of this box: the server takes a live
    run for one of the box that the key is of. `boxes`: those that will be reported. Of the files of
    `request` those of this box show its tests.
    """
    if credential.name is not None and credential.name not in boxes:
        named = ", ".join(boxes)
        notify(no_live_run(f"this machine is box {credential.name}, and the run is of {named}"))
        yield
        return
    from hwci.ci.reporting.tests_so_far import TestsSoFar
    from hwci.wire.runs import RunHead

    fields = {name: job.value(name) for name in _HEAD if job.value(name) is not None}
    try:
        head = RunHead(**fields)
    except ValidationError:
        yield  # the report will name what is wrong
        return
    # A key of the environment has no name: of several boxes it is not known which is its own.
    own = credential.name or (boxes[0] if len(boxes) == 1 else None)
    patterns = [pattern for box, pattern in placed(job, request.files) if box == own]
    tests = TestsSoFar(
        patterns, request.before or {}, by_file=request.by_file, platforms=request.platforms
    )
    stop = threading.Event()
    # A daemon thread: a server that does not answer delays nothing.
    threading.Thread(
        target=_stay_open, args=(credential, head, tests, stop, notify), daemon=True
    ).start()
    try:
        yield
    finally:
        stop.set()


def no_live_run(why: str) -> str:
    """Return the notice that the tests run without a live run."""
    return f"note: There is no live run: {why}. The tests go on, and are reported at their end."


def _stay_open(
    credential: BoxCredential,
    head: "RunHead",
    tests: "TestsSoFar",
    stop: threading.Event,
    notify: Callable[[str], None],
) -> None:
    from hwci.client import Client, calls

    try:
        client = Client(credential.url, box_key=credential.key, timeout=_TRY_S, retries=0)
    except HwciError as fault:
        notify(no_live_run(str(fault)))
        return
    run: UUID | None = None
    notified = False
    with client:
        while not stop.is_set():
            try:
                if run is None:
                    run = client.send(calls.open_run(head)).id
                else:
                    client.send(calls.heartbeat())
                _feed(client, run, tests, stop)
            except HwciError as fault:
                # After the tests the report has the run, and nothing is amiss.
                if not notified and not stop.is_set():
                    notify(no_live_run(str(fault)) if run is None else _behind(str(fault)))
                    notified = True
                if isinstance(fault, AnswerShapeError):
                    return  # not an hwci server: it gets the key only once
                stop.wait(EVERY_S)


def _behind(why: str) -> str:
    return f"note: The live run is not kept up: {why}. The report will have every test."


def _feed(client: "Client", run: UUID, tests: "TestsSoFar", stop: threading.Event) -> None:
    """Send what the files show, as they change, until the next heartbeat is due."""
    from hwci.client import calls

    until = time.monotonic() + EVERY_S
    while not stop.is_set() and time.monotonic() < until:
        began = time.monotonic()
        for events in tests.news():
            client.send(calls.feed_run(run, events))
        took = time.monotonic() - began
        stop.wait(min(max(FEED_S, REST * took), EVERY_S))
