# SPDX-License-Identifier: Apache-2.0
"""Heartbeats, which keep a box online and its live runs alive (contract, "Boxes")."""

import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from hwci.bench.box_key import NEW_TOKEN, BoxCredential
from hwci.client import Client, calls
from hwci.client.errors import (
    AnswerShapeError,
    ApiError,
    ConnectionFailedError,
    HwciError,
    UnauthorizedError,
)
from hwci.client.explained import ErrorMessage, ExplainedError, explain

PAUSE_MAX_S = 180.0
"""The longest pause while the server is away: shorter than the time after which a run is lost."""
ASKED_MAX_S = 600.0
_NOT_SENT = "The heartbeat did not get through"
_NEW_KEY = f"Install the box again. {NEW_TOKEN}"


def send_heartbeat(box: BoxCredential, retries: int) -> None:
    """Send one heartbeat.

    Raises:
        ExplainedError: it did not get through.
    """
    with _client(box, retries) as client:
        client.send(calls.heartbeat())


def send_heartbeats(
    box: BoxCredential,
    every: int,
    notify: Callable[[str], None],
    warn: Callable[[ErrorMessage], None],
) -> None:
    """Send heartbeats until SIGTERM or Ctrl-C, also while the server is away.

    Raises:
        ExplainedError: the key is refused.
    """
    with _client(box, retries=0) as client:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        failures, reached = 0, False
        try:
            while True:
                fault = _beat(client)
                if fault is None and not reached:
                    notify(f"Heartbeats reach {box.url}, one every {every} s.")
                if fault is not None and not failures:
                    message = explain(fault, _NOT_SENT)
                    warn(replace(message, fix=f"Nothing yet: it keeps trying. {message.fix}"))
                reached = fault is None
                failures = 0 if reached else failures + 1
                time.sleep(pause(every, failures, random.random(), fault))  # noqa: S311 - no secret
        except KeyboardInterrupt:
            notify("The heartbeats end.")
        finally:
            signal.signal(signal.SIGTERM, before)


def pause(every: int, failures: int, chance: float, fault: HwciError | None = None) -> float:
    """Return the seconds until the next heartbeat: longer after failures, spread at random so that
    benches do not call in step, and at least as long as the server asked for.
    """
    if not failures:
        return float(every)
    longest = min(PAUSE_MAX_S, every * 2.0 ** min(failures, 10))
    wait = getattr(fault, "retry_after", None) or 0.0
    return max(1.0, longest * (0.5 + chance / 2), min(wait, ASKED_MAX_S))


@contextmanager
def _client(box: BoxCredential, retries: int) -> Iterator[Client]:
    try:
        with Client(box.url, box_key=box.key, retries=retries) as client:
            yield client
    except HwciError as fault:
        message = explain(fault, _NOT_SENT)
        if isinstance(fault, UnauthorizedError):
            message = replace(message, fix=_NEW_KEY)
        raise ExplainedError(message) from fault


def _beat(client: Client) -> HwciError | None:
    """Send one heartbeat; return the error if trying again may help."""
    try:
        client.send(calls.heartbeat())
    except UnauthorizedError:
        raise
    except (ConnectionFailedError, AnswerShapeError, ApiError) as fault:
        return fault
    return None
