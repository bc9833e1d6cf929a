# SPDX-License-Identifier: Apache-2.0
"""A live run beside the tests: a box that has its key opens it and stays heard (contract, "Boxes").

Whatever goes wrong here is a note: the tests go on, and the report says what is to be known.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hwci.cli.terminal.render import note
from hwci.client.errors import AnswerShapeError, HwciError
from hwci.client.explained import ExplainedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime
    from pathlib import Path

    from hwci.ci.job import Job
    from hwci.cli.reporting.box_key import Held
    from hwci.wire.runs import RunHead

EVERY_S = 60.0
_TRY_S = 10.0
_HEAD = ("repo_key", "workflow", "suite", "run_id", "run_attempt", "trigger", "branch", "sha")


@contextmanager
def live_run(
    job: Job, boxes: Collection[str], started_at: datetime, url: str | None, key_file: Path | None
) -> Iterator[None]:
    """Keep a live run open meanwhile, if this machine is a box, and the run is reported of it: the
    server takes the live run for one of the box that the key is of. `boxes`: what is reported.
    """
    from pydantic import ValidationError

    from hwci.wire.runs import RunHead

    held = _key(url, key_file)
    if held is not None and held.name is not None and held.name not in boxes:
        _note(f"this machine is box {held.name}, and the run is reported of {', '.join(boxes)}")
        held = None
    if held is None:
        yield
        return
    said = {name: job.value(name) for name in _HEAD if job.value(name) is not None}
    try:
        head = RunHead(**said, started_at=started_at)
    except ValidationError:
        yield  # the report will name what is wrong
        return
    stop = threading.Event()
    # A daemon: a server that does not answer holds nobody back.
    threading.Thread(target=_stay_heard, args=(held, head, stop), daemon=True).start()
    try:
        yield
    finally:
        stop.set()


def _key(url: str | None, key_file: Path | None) -> Held | None:
    """Find the key of the box; a machine that is no box has none."""
    from hwci.cli.reporting.box_key import NotInstalledError, held_key

    try:
        return held_key(url, key_file)
    except NotInstalledError:
        return None
    except ExplainedError as fault:
        _note(fault.message.cause)
        return None


def _stay_heard(held: Held, head: RunHead, stop: threading.Event) -> None:
    from hwci.client import Client, calls

    try:
        client = Client(held.url, box_key=held.key, timeout=_TRY_S, retries=0)
    except HwciError as fault:
        _note(str(fault))
        return
    opened, told = False, False
    with client:
        while not stop.is_set():
            try:
                if opened:
                    client.send(calls.heartbeat())
                else:
                    client.send(calls.open_run(head))
                opened = True
            except HwciError as fault:
                if not told:
                    _note(str(fault))
                told = True
                if isinstance(fault, AnswerShapeError):
                    return  # a stranger is shown the key once
            stop.wait(EVERY_S)


def _note(why: str) -> None:
    note(f"note: There is no live run: {why}. The tests go on, and are reported at their end.")
