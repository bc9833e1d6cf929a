# SPDX-License-Identifier: Apache-2.0
"""`hwci doctor`: what would keep a report from here from arriving whole, with a fix for each fault
(contract, "Command line"). It changes nothing, here or at the server.
"""

from __future__ import annotations

import json as json_text
import os
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hwci.cli import clock_check, delivery, options
from hwci.cli.failing import CommandError, ExitCode, failing_of
from hwci.cli.render import say, say_json
from hwci.cli.settings import Flags, Settings, resolve
from hwci.cli.tables import counted

if TYPE_CHECKING:
    from hwci.cli.job import Here
    from hwci.client import Client
    from hwci.client.errors import HwciError

_TRY_S = 10.0


class State(StrEnum):
    """How bad it is: a warning lets reports arrive, which may say less than they could."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one thing, and what to do about it."""

    check: str
    state: State
    what: str
    fix: str = ""


def doctor(
    json: options.Json = False, url: options.Url = None, profile: options.Profile = None
) -> None:
    """Check that reports from here will arrive: server, key, clock, git, CI, proxy, spool, box key.

    Exit code 1 when something fails; a warning is none. Nothing is changed, nothing is reported.

    For example:

      hwci doctor

      hwci doctor --json
    """
    from hwci.cli.job import JobFlags, look_around

    place = look_around(JobFlags())
    found = [
        *_server(resolve(Flags(url, profile))),
        _git(place),
        _ci(place),
        _spool(),
        _box_key(),
    ]
    if json:
        say_json(json_text.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
    else:
        for one in found:
            say(f"{one.state:4}  {one.check}: {one.what}")
            if one.fix:
                say(f"      fix: {one.fix}")
    if any(one.state is State.FAIL for one in found):
        raise typer.Exit(ExitCode.FAILED)


def _server(settings: Settings) -> list[Finding]:
    """Look at the way to the server, at the server, the key and the clocks."""
    from hwci.client import Client, calls
    from hwci.client._address import parse_address, proxy_of
    from hwci.client.errors import HwciError

    try:
        proxy = proxy_of(parse_address(settings.url))
        client = Client(settings.url, ci_key=settings.ci_key(), timeout=_TRY_S, retries=0)
    except HwciError as fault:
        return [_failed("server", fault)]
    way = Finding("proxy", State.OK, proxy.address.origin if proxy else "none is used")
    with client:
        try:
            client.send(calls.health())
        except HwciError as fault:
            return [_failed("server", fault), way]
        server = Finding("server", State.OK, f"{settings.url} answers")
        return [server, way, _key(client, settings), _clock(client)]


def _key(client: Client, settings: Settings) -> Finding:
    """Send what breaks the field rules: a good key is told so, and nothing is stored."""
    from hwci.client import Call
    from hwci.client._call import Credential
    from hwci.client.errors import BadRequestError, HwciError

    fix = "Make a key (hwci keys create NAME), and give it to the job as HWCI_CI_KEY"
    if settings.ci_key() is None:
        return Finding("key", State.FAIL, "HWCI_CI_KEY is not set", fix)
    empty: Call[None] = Call(
        "POST", "/api/ci/run-report", None, 204, credential=Credential.CI_KEY, body=b"{}"
    )
    try:
        client.send(empty)
    except BadRequestError:
        return Finding("key", State.OK, "the server knows it")
    except HwciError as fault:
        return _failed("key", fault)
    return Finding("key", State.FAIL, "the server takes an empty report: it is none of hwci's")


def _failed(check: str, fault: HwciError) -> Finding:
    failing = failing_of(fault, by_ci_key=True)
    return Finding(check, State.FAIL, failing.cause, failing.fix)


def _clock(client: Client) -> Finding:
    if client.server_time is None:
        return Finding("clock", State.WARN, "the server does not say its time")
    apart = clock_check.apart(client.server_time)
    if apart is None:
        return Finding("clock", State.OK, "as the server's")
    return Finding("clock", State.WARN, apart, clock_check.FIX)


def _git(place: Here) -> Finding:
    if place.repository is None:
        what = "this folder is no repository that git can read: reports say no changes"
        return Finding("git", State.WARN, what, "Check out the commit under test, and run in it")
    if place.repository.cut():
        what = "the clone is shallow: changes since the last run may not be known"
        fix = "Fetch all history (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0)"
        return Finding("git", State.WARN, what, fix)
    return Finding("git", State.OK, "the whole history is here")


def _ci(place: Here) -> Finding:
    from hwci.ci.fields import BY_NAME
    from hwci.cli.env import missing_fields

    job = place.job
    if job.faults:
        return Finding("ci", State.FAIL, "; ".join(job.faults), "Correct it, or unset it")
    missing = missing_fields(job)
    if not missing:
        return Finding("ci", State.OK, f"{job.title}; every field is known")
    named = ", ".join(f"{BY_NAME[name].flag} ({BY_NAME[name].variable})" for name in missing)
    what = f"{job.title}; nobody says {', '.join(missing)}"
    return Finding("ci", State.WARN, what, f"Add {named}; hwci env shows the rest")


def _spool() -> Finding:
    """Look at what waits, and whether more could."""
    kept = delivery.spool_of(os.environ)
    if kept is None:
        what = "this user has no home: nothing is kept when the server is away"
        return Finding("spool", State.WARN, what, "Set HWCI_SPOOL_DIR")
    if not _writable(kept.folder):
        what = f"{kept.folder} cannot be written: nothing is kept when the server is away"
        return Finding("spool", State.WARN, what, "Set HWCI_SPOOL_DIR to a folder of this user")
    waiting, refused = kept.waiting(), kept.refused()
    if not waiting and not refused:
        return Finding("spool", State.OK, f"{kept.folder} is empty")
    what = f"{counted(len(waiting), 'report')} waiting, {len(refused)} refused, in {kept.folder}"
    if waiting:
        what += f", the oldest for {max(0.0, time.time() - waiting[0].created) / 3600:.1f} hours"
    return Finding("spool", State.WARN, what, "Look (hwci spool list), and send: hwci spool flush")


def _writable(folder: Path) -> bool:
    """Tell whether a folder can be written, or made."""
    there = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _box_key() -> Finding:
    from hwci.cli.box_key import box_file, read_key

    try:
        named = os.environ.get("HWCI_BOX_FILE")
        path = box_file(Path(named) if named else None, os.environ)
        if not path.exists():
            return Finding("box key", State.OK, "none: this machine is not installed as a box")
        kept = read_key(path)
    except CommandError as fault:
        return Finding("box key", State.FAIL, fault.failing.cause, fault.failing.fix)
    return Finding("box key", State.OK, f"{path} is of box {kept.name} at {kept.url}")
