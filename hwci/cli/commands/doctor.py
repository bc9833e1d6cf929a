# SPDX-License-Identifier: Apache-2.0
"""`hwci doctor`: what would keep a report from here from arriving whole, with a fix for each fault
(contract, "Command line"). It changes nothing, here or at the server.
"""

from __future__ import annotations

import json as json_text
import os
import stat
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hwci import __version__
from hwci.cli.commands.admin.database import sqlite_here
from hwci.cli.reporting import doctor_commits
from hwci.cli.reporting.finding import Finding, State
from hwci.cli.session.reporter import command_context, destination, spool_of
from hwci.cli.session.settings import Flags, Settings, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.render import say, say_json
from hwci.cli.terminal.tables import counted
from hwci.client.explained import NO_URL, NO_URL_FIX, ExitCode, ExplainedError, explain

if TYPE_CHECKING:
    from hwci.ci.reporting import JobContext
    from hwci.client import Client
    from hwci.client.errors import HwciError
    from hwci.client.spool import Spool

_TRY_S = 10.0

NO_KEY = Finding(
    "key",
    State.FAIL,
    "HWCI_CI_KEY is not set",
    "Make a key (hwci keys create NAME), and give it to the job as HWCI_CI_KEY",
)


def doctor(
    json: options.Json = False, url: options.Url = None, profile: options.Profile = None
) -> None:
    """Check that reports from here will arrive: server, key, clock, git, CI, proxy, spool, box key.

    In a job of a bench, the run and the push before this one are looked for, too, as a report
    would: without them it says less.

    Exit code 1 when something fails; a warning is none. Nothing is changed, nothing is reported.

    For example:

      hwci doctor

      hwci doctor --json
    """
    from hwci.ci.reporting import JobFlags, look_around

    settings = resolve(Flags(url, profile))
    place = look_around(JobFlags(), command_context())
    found = [
        *_server(settings),
        doctor_commits.checkout(place),
        _ci(place),
        _product(place),
        *doctor_commits.before(place),
        _spool(settings),
        _box_key(),
        sqlite_here(),
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

    if settings.guessed:
        return [Finding("server", State.FAIL, NO_URL, NO_URL_FIX), *_no_key(settings)]
    try:
        proxy = proxy_of(parse_address(settings.url))
        client = Client(settings.url, ci_key=_usable_key(settings), timeout=_TRY_S, retries=0)
    except HwciError as fault:
        return [_failed("server", fault)]
    way = Finding("proxy", State.OK, proxy.address.origin if proxy else "none is used")
    with client:
        try:
            client.send(calls.health())
        except HwciError as fault:
            return [_failed("server", fault), way, *_no_key(settings)]
        key, clock = _key(client, settings), _clock(client)
        what = f"{settings.url} answers, {_versions(client)}"
        return [Finding("server", State.OK, what), way, key, clock]


def _no_key(settings: Settings) -> list[Finding]:
    """Say why there is no key to report with, if there is none."""
    lacking = destination(settings).no_key
    if lacking is None:
        return []
    told = lacking.message
    return [Finding("key", State.FAIL, told.cause, told.fix) if lacking.meant else NO_KEY]


def _usable_key(settings: Settings) -> str | None:
    return None if _no_key(settings) else settings.ci_key()


def _versions(client: Client) -> str:
    """Say which versions meet. They may differ: what the other does not know, it overlooks
    (contract, "Everywhere").
    """
    from pydantic import BaseModel

    from hwci.client import Call
    from hwci.client._call import Credential
    from hwci.client.errors import HwciError

    class Info(BaseModel):
        version: str

    class Document(BaseModel):
        info: Info

    asked = Call("GET", "/api/openapi.json", Document, 200, credential=Credential.NONE)
    try:
        there = f"hwci {client.send(asked).info.version}"
    except HwciError:
        there = "its version is not known"
    return f"{there}; here is {__version__}"


def _key(client: Client, settings: Settings) -> Finding:
    """Send what breaks the field rules: a good key is told so, and nothing is stored."""
    from hwci.client import Call
    from hwci.client._call import Credential
    from hwci.client.errors import BadRequestError, HwciError

    if lacking := _no_key(settings):
        return lacking[0]
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
    message = explain(fault, by_ci_key=True)
    return Finding(check, State.FAIL, message.cause, message.fix)


def _clock(client: Client) -> Finding:
    if client.server_time is None:
        return Finding("clock", State.WARN, "the server does not say its time")
    from hwci.ci.reporting import clock

    apart = clock.apart(client.server_time, options.now())
    if apart is None:
        return Finding("clock", State.OK, "as the server's")
    return Finding("clock", State.WARN, apart, clock.FIX)


def _ci(place: JobContext) -> Finding:
    job = place.job
    if job.faults:
        return Finding("ci", State.FAIL, "; ".join(job.faults), "Correct it, or unset it")
    if doubts := (*job.unreadable, *job.unknown_commits):
        return Finding("ci", State.WARN, "; ".join(doubts), "Correct it, or unset it")
    from hwci.ci.reporting import missing_fields, way

    missing = missing_fields(job)
    if not missing:
        return Finding("ci", State.OK, f"{job.title}; every field is known")
    named = ", ".join(map(way, missing))
    what = f"{job.title}; nobody tells {', '.join(missing)}"
    return Finding("ci", State.WARN, what, f"Add {named}; hwci env shows the rest")


def _product(place: JobContext) -> Finding:
    doubt = place.product_doubt()
    if doubt is not None:
        return Finding("product", State.WARN, doubt.what, doubt.fix)
    told = place.job.product()
    if told is None:
        return Finding("product", State.OK, "that of the workflow, which nobody says yet")
    return Finding("product", State.OK, f"{told.value}, says {told.source}")


def _for_others(kept: Spool, settings: Settings) -> list[str]:
    """Say what waits for another server or key than this."""
    from hwci.client._address import parse_address
    from hwci.client.delivery import unsent
    from hwci.client.errors import ServerAddressError
    from hwci.client.spool import fingerprint_of

    key = _usable_key(settings)
    if settings.guessed:
        return []
    try:
        address = str(parse_address(settings.url))
    except ServerAddressError:
        return []
    keyed = kept.others_waiting(address, fingerprint_of(key)) if key else 0
    elsewhere = len(kept.elsewhere(address))
    return [
        *([unsent.for_other_key(keyed)] if keyed else []),
        *([unsent.for_other_server(elsewhere)] if elsewhere else []),
    ]


def _spool(settings: Settings) -> Finding:
    """Look at what waits, and whether more could."""
    from hwci.client.delivery import unsent
    from hwci.client.spool import SpoolError

    kept = spool_of(os.environ)
    if kept is None:
        what = "this user has no home: nothing is kept when the server is away"
        return Finding("spool", State.WARN, what, "Set HWCI_SPOOL_DIR")
    if not _writable(kept.folder):
        what = f"{kept.folder} cannot be written: nothing is kept when the server is away"
        return Finding("spool", State.WARN, what, "Set HWCI_SPOOL_DIR to a folder of this user")
    try:
        waiting, unopened = kept.waiting(), kept.unopened()
        refused = [*kept.refused(), *kept.superseded()]
    except SpoolError as fault:
        what = f"{fault}: nothing is kept when the server is away"
        return Finding("spool", State.WARN, what, fault.fix)
    if not waiting and not refused and not unopened:
        return Finding("spool", State.OK, f"{kept.folder} is empty")
    aside = unsent.set_aside(refused)
    what = ", ".join(filter(None, (f"{counted(len(waiting), 'report')} waiting", aside)))
    what += f", in {kept.folder}"
    if unopened:
        what += f", {counted(len(unopened), 'file')} that cannot be read"
    if waiting:
        what += f", the oldest for {max(0.0, time.time() - waiting[0].created) / 3600:.1f} hours"
    fix = "Look (hwci spool list), and send: hwci spool flush"
    again = f"Or: {unsent.ways_back(refused)}"
    fix = ". ".join((fix, *([again] if refused else []), *_for_others(kept, settings)))
    return Finding("spool", State.WARN, what, fix)


def _writable(folder: Path) -> bool:
    """Tell whether a folder can be written, or made."""
    for there in (folder, *folder.absolute().parents):
        try:
            is_folder = stat.S_ISDIR(there.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            break
        return is_folder and os.access(there, os.W_OK | os.X_OK)
    return False


def _box_key() -> Finding:
    from hwci.bench.box_key import NotInstalledError, box_file, read_key

    try:
        named = os.environ.get("HWCI_BOX_FILE")
        path = box_file(Path(named) if named else None, os.environ)
        kept = read_key(path)
    except NotInstalledError:
        return Finding("box key", State.OK, "none: this machine is not installed as a box")
    except ExplainedError as fault:
        return Finding("box key", State.FAIL, fault.message.cause, fault.message.fix)
    return Finding("box key", State.OK, f"{path} is of box {kept.name} at {kept.url}")
