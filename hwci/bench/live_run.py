# SPDX-License-Identifier: Apache-2.0
"""A live run beside the tests: a box that has its key opens it and sends heartbeats (contract,
"Boxes"). Whatever goes wrong here is a notice: the tests go on, and are reported at their end.
"""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime

from pydantic import ValidationError

from hwci.bench.box_key import BoxCredential
from hwci.ci.job import Job
from hwci.client import Client, calls
from hwci.client.errors import AnswerShapeError, HwciError
from hwci.wire.runs import RunHead

EVERY_S = 60.0
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
    "ci_run",
    "ci_url",
)


@contextmanager
def live_run(
    credential: BoxCredential,
    job: Job,
    boxes: Collection[str],
    started_at: datetime,
    notify: Callable[[str], None],
) -> Iterator[None]:
    """Keep a live run open during the block, if the run is one of this box: the server takes a live
    run for one of the box that the key is of. `boxes`: those that will be reported.
    """
    if credential.name is not None and credential.name not in boxes:
        named = ", ".join(boxes)
        notify(no_live_run(f"this machine is box {credential.name}, and the run is of {named}"))
        yield
        return
    fields = {name: job.value(name) for name in _HEAD if job.value(name) is not None}
    try:
        head = RunHead(**fields, started_at=started_at)
    except ValidationError:
        yield  # the report will name what is wrong
        return
    stop = threading.Event()
    # A daemon thread: a server that does not answer delays nothing.
    threading.Thread(target=_stay_open, args=(credential, head, stop, notify), daemon=True).start()
    try:
        yield
    finally:
        stop.set()


def no_live_run(why: str) -> str:
    """Return the notice that the tests run without a live run."""
    return f"note: There is no live run: {why}. The tests go on, and are reported at their end."


def _stay_open(
    credential: BoxCredential, head: RunHead, stop: threading.Event, notify: Callable[[str], None]
) -> None:
    try:
        client = Client(credential.url, box_key=credential.key, timeout=_TRY_S, retries=0)
    except HwciError as fault:
        notify(no_live_run(str(fault)))
        return
    opened, notified = False, False
    with client:
        while not stop.is_set():
            try:
                if opened:
                    client.send(calls.heartbeat())
                else:
                    client.send(calls.open_run(head))
                opened = True
            except HwciError as fault:
                if not notified:
                    notify(no_live_run(str(fault)))
                notified = True
                if isinstance(fault, AnswerShapeError):
                    return  # not an hwci server: it gets the key only once
            stop.wait(EVERY_S)
