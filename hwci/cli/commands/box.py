# SPDX-License-Identifier: Apache-2.0
"""What runs on a bench: `hwci box install|heartbeat` (contract, "Boxes"). How people manage boxes
stands in `boxes.py`, where the key is kept in `box_key.py`.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.reporting.box_key import BoxKey, box_file, held_key, place_for_key
from hwci.cli.session.connection import RETRIES
from hwci.cli.session.prompts import secret_line
from hwci.cli.session.settings import Flags, resolve, secret
from hwci.cli.terminal import options
from hwci.cli.terminal.errors import report
from hwci.cli.terminal.render import note
from hwci.client.explained import ExplainedError, explain
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.client import Client
    from hwci.client.errors import HwciError
    from hwci.wire.boxes import InstalledBox

box = typer.Typer(no_args_is_help=True, help="On a bench: install it, keep it online.")

ONLINE_FOR_S = int(limits.BOX_ONLINE_FOR.total_seconds())
PAUSE_MAX_S = 180.0
"""However long a server is away, it is asked again within this, and its run is not lost yet."""
ASKED_MAX_S = 600.0
_WAYS = "--token-stdin, or as HWCI_INSTALL_TOKEN (in a file: HWCI_INSTALL_TOKEN_FILE)"
_NEW_TOKEN = "Ask an owner or admin for a new token: hwci boxes install-token BOX"
_NEW_KEY = f"Install the box again. {_NEW_TOKEN}"

KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        envvar="HWCI_BOX_FILE",
        show_envvar=False,
        help="File of the box's key [HWCI_BOX_FILE, else hwci/box.json in the user's settings].",
        show_default=False,
    ),
]


@box.command("install")
def install(
    url: options.Url = None,
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read the install token from stdin.")
    ] = False,
    key_file: KeyFile = None,
) -> None:
    """Exchange an install token for the key of this bench, and keep the key in a file.

    The token is HWCI_INSTALL_TOKEN (or in the file that HWCI_INSTALL_TOKEN_FILE names), or is asked
    for; it is never an argument. An earlier key of the box ends, and its file is written over.

    For example:

      hwci box install --url https://hwci.example.org

      hwci box install --url https://hwci.example.org --token-stdin < token.txt
    """
    path = box_file(key_file, os.environ)
    server = resolve(Flags(url)).url_for_key("The box was not installed")
    with place_for_key(path) as keep:
        told = _exchange(server, _token(from_stdin=token_stdin))
        keep(BoxKey(server, str(told.box_id), told.name, str(told.org_id), told.api_key))
    note(f"This machine is box {told.name} at {server}. Its key is in {path}.")
    note("Keep it online: hwci box heartbeat")


@box.command("heartbeat")
def heartbeat(
    once: Annotated[bool, typer.Option("--once", help="Send one and end.")] = False,
    every: Annotated[
        int,
        typer.Option(min=1, max=ONLINE_FOR_S, metavar="SECONDS", help="How often to send one."),
    ] = 60,
    url: options.Url = None,
    key_file: KeyFile = None,
) -> None:
    """Keep this bench online, and its live runs alive, until SIGTERM or Ctrl-C.

    It goes on while the server is away, and ends with exit code 4 when the key is refused. Without
    `hwci box install`, the key is HWCI_BOX_KEY (or in the file that HWCI_BOX_KEY_FILE names).

    For example:

      hwci box heartbeat

      hwci box heartbeat --once
    """
    held = held_key(url, key_file)
    from hwci.client import Client, calls

    with _refusals(), Client(held.url, box_key=held.key, retries=RETRIES if once else 0) as client:
        if once:
            client.send(calls.heartbeat())
        else:
            _beat_until_told(client, held.url, every)


def _token(*, from_stdin: bool) -> str:
    given = None if from_stdin else secret("HWCI_INSTALL_TOKEN", os.environ)
    return given or secret_line("install token", _WAYS, from_stdin=from_stdin)


def _exchange(url: str, token: str) -> "InstalledBox":
    from hwci.client import Client, calls
    from hwci.client.errors import ConnectionFailedError, HwciError, UnauthorizedError

    try:
        with Client(url, retries=RETRIES) as client:
            return client.send(calls.install_box(token))
    except HwciError as fault:
        message = explain(fault, "The box was not installed")
        if isinstance(fault, UnauthorizedError):
            message = replace(message, fix=_NEW_TOKEN)
        elif isinstance(fault, ConnectionFailedError) and fault.sent:
            message = replace(message, fix=f"Try again; a token works once. {_NEW_TOKEN}")
        raise ExplainedError(message) from fault


@contextmanager
def _refusals() -> "Iterator[None]":
    """Let errors of the client pass as errors of the command, with what to do on a bench."""
    from hwci.client.errors import HwciError, UnauthorizedError

    try:
        yield
    except HwciError as fault:
        message = explain(fault, "The heartbeat did not get through")
        if isinstance(fault, UnauthorizedError):
            message = replace(message, fix=_NEW_KEY)
        raise ExplainedError(message) from fault


def _beat_until_told(client: "Client", url: str, every: int) -> None:
    """Send heartbeats until a signal comes. Raises what will not pass by itself."""
    import random
    import signal

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    failures, heard = 0, False
    try:
        while True:
            fault = _beat(client)
            if fault is None and not heard:
                note(f"{url} hears the box, every {every} s.")
            if fault is not None and not failures:
                _warn(fault)
            heard = fault is None
            failures = 0 if heard else failures + 1
            time.sleep(pause(every, failures, random.random(), fault))  # noqa: S311 - spread only
    except KeyboardInterrupt:
        note("The heartbeats end.")
    finally:
        signal.signal(signal.SIGTERM, before)


def _beat(client: "Client") -> "HwciError | None":
    """Send one; give what went wrong, if it may pass by itself."""
    from hwci.client import calls
    from hwci.client.errors import (
        AnswerShapeError,
        ApiError,
        ConnectionFailedError,
        UnauthorizedError,
    )

    try:
        client.send(calls.heartbeat())
    except UnauthorizedError:
        raise
    except (ConnectionFailedError, AnswerShapeError, ApiError) as fault:
        return fault
    return None


def _warn(fault: "HwciError") -> None:
    message = explain(fault, "The heartbeat did not get through")
    report(replace(message, fix=f"Nothing yet: it goes on trying. {message.fix}"), "warning")


def pause(every: int, failures: int, chance: float, fault: "HwciError | None" = None) -> float:
    """Give the seconds until the next heartbeat: after failures longer, and never in step with
    other benches. A server that says when to come back is obeyed.
    """
    if not failures:
        return float(every)
    longest = min(PAUSE_MAX_S, every * 2.0 ** min(failures, 10))
    asked = getattr(fault, "retry_after", None) or 0.0
    return max(1.0, longest * (0.5 + chance / 2), min(asked, ASKED_MAX_S))
