# SPDX-License-Identifier: Apache-2.0
"""The checks of `hwci doctor`: what would keep a report of this job from arriving whole, with a fix
for each fault. Nothing is changed, here or at the server.
"""

import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel

from hwci.bench.box_key import NotInstalledError, box_file, read_key
from hwci.ci.reporting import JobContext, clock, missing_fields, way
from hwci.ci.reporting.base import BASE_FIX
from hwci.ci.reporting.push import stood_before
from hwci.ci.reporting.under_test import base_of, remembered
from hwci.ci.systems import api_of
from hwci.ci.systems.api import GetJson, for_one_report, get_json
from hwci.client import Call, Client, calls
from hwci.client._address import parse_address, proxy_of
from hwci.client._call import Credential
from hwci.client.delivery import unsent
from hwci.client.delivery.job_key import JobKey, owner_of
from hwci.client.delivery.sending import Destination
from hwci.client.errors import BadRequestError, HwciError, ServerAddressError
from hwci.client.explained import CI_KEY_FIX, NO_URL, NO_URL_FIX, ExplainedError, explain
from hwci.client.store import BenchStore, StoreError, fingerprint_of
from hwci.said import counted, short
from hwci.version import build_version

TRY_S = 10.0


class State(StrEnum):
    """How bad a finding is: with a warning reports arrive, but may hold less than they could."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, and what to do about it."""

    check: str
    state: State
    what: str
    fix: str = ""


def check_reporting(context: JobContext, to: Destination) -> list[Finding]:
    """Check the job, the server and what is on this machine."""
    return [
        *_server(to, context.command.clock()),
        _checkout(context),
        _ci(context),
        _product(context),
        *_earlier(context, to),
        _spool(to),
        _box_key(context.command.environ),
    ]


def _server(to: Destination, now: datetime) -> list[Finding]:
    if not to.known:
        return [Finding("server", State.FAIL, NO_URL, NO_URL_FIX), *_no_key(to)]
    try:
        proxy = proxy_of(parse_address(to.url))
        client = Client(to.url, ci_key=_usable_key(to), timeout=TRY_S, retries=0)
    except HwciError as fault:
        return [_failed("server", fault)]
    way = Finding("proxy", State.OK, proxy.address.origin if proxy else "none is used")
    with client:
        try:
            client.send(calls.health())
        except HwciError as fault:
            return [_failed("server", fault), way, *_no_key(to)]
        key, clock = _key(client, to), _clock(client, now)
        return [
            Finding("server", State.OK, f"{to.url} answers, {_versions(client)}"),
            way,
            key,
            clock,
        ]


def _no_key(to: Destination) -> list[Finding]:
    if to.no_key is None:
        return []
    what, fix = to.no_key.message.cause, to.no_key.message.fix
    if not to.no_key.meant:
        what = "HWCI_CI_KEY is not set"
        if fix == CI_KEY_FIX:  # else this job could sign in
            fix = "Make a key (hwci keys create NAME), and give it to the job as HWCI_CI_KEY"
    return [Finding("key", State.FAIL, what, fix)]


def _usable_key(to: Destination) -> str | JobKey | None:
    return to.key if to.no_key is None else None


def _versions(client: Client) -> str:
    """Return both versions. They may differ: each ignores what it does not know of the other
    (contract, "Everywhere").
    """

    class Info(BaseModel):
        version: str

    class Document(BaseModel):
        info: Info

    call = Call("GET", "/api/openapi.json", Document, 200, credential=Credential.NONE)
    try:
        there = f"hwci {client.send(call).info.version}"
    except HwciError:
        there = "its version is not known"
    return f"{there}; here is {build_version()}"


def _key(client: Client, to: Destination) -> Finding:
    """Send a body that breaks the field rules: with a good key the server answers 400, and
    stores nothing.
    """
    if missing := _no_key(to):
        return missing[0]
    empty: Call[None] = Call(
        "POST", "/api/ci/run-report", None, 204, credential=Credential.CI_KEY, body=b"{}"
    )
    try:
        client.send(empty)
    except BadRequestError:
        signed_in = isinstance(to.key, JobKey)
        what = "the job signs in without one" if signed_in else "the server knows it"
        return Finding("key", State.OK, what)
    except HwciError as fault:
        return _failed("key", fault)
    return Finding(
        "key", State.FAIL, "the server accepts an empty report: it is not an hwci server"
    )


def _failed(check: str, fault: HwciError) -> Finding:
    message = explain(fault, by_ci_key=True)
    return Finding(check, State.FAIL, message.cause, message.fix)


def _clock(client: Client, now: datetime) -> Finding:
    if client.server_time is None:
        return Finding("clock", State.WARN, "the server does not send its time")
    apart = clock.apart(client.server_time, now)
    if apart is None:
        return Finding("clock", State.OK, "matches the server's")
    return Finding("clock", State.WARN, apart, clock.FIX)


def _checkout(context: JobContext) -> Finding:
    if context.repository is None:
        fix = context.git_fault.fix if context.git_fault else ""
        return Finding("git", State.WARN, f"{context.git_fault}: reports hold no changes", fix)
    if context.repository.head() is None:
        what = "no commit is checked out: reports hold no changes"
        return Finding("git", State.WARN, what, "Check out the commit under test")
    if context.repository.cut():
        what = "the clone is shallow: changes since the last run may not be known"
        fix = "Fetch all history (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0)"
        return Finding("git", State.WARN, what, fix)
    if (changed := context.changed()) is not None:
        return Finding("git", State.WARN, changed.what, changed.fix)
    return Finding("git", State.OK, "the whole history is here")


def _ci(context: JobContext) -> Finding:
    job = context.job
    if job.bad_settings:
        return Finding("ci", State.FAIL, "; ".join(job.bad_settings), "Correct it, or unset it")
    if doubts := (*job.unreadable, *job.unknown_commits):
        return Finding("ci", State.WARN, "; ".join(doubts), "Correct it, or unset it")
    missing = missing_fields(job)
    if not missing:
        return Finding("ci", State.OK, f"{job.title}; every field is known")
    ways = ", ".join(map(way, missing))
    if job.system is None and not context.command.environ.get("CI"):  # a desk: nothing is wrong
        return Finding("ci", State.OK, f"{job.title}: a report from here needs {ways}")
    what = f"{job.title}; missing: {', '.join(missing)}"
    fix = f"Add {ways}; hwci env shows the rest"
    return Finding("ci", State.WARN, what, fix)


def _product(context: JobContext) -> Finding:
    notice, product = context.product_notice(), context.job.product()
    if notice is not None:
        return Finding("product", State.WARN, notice.what, notice.fix)
    if product is None:
        return Finding("product", State.OK, "that of the workflow, not known yet")
    return Finding("product", State.OK, f"{product.value}, from {product.source}")


def _earlier(context: JobContext, to: Destination) -> list[Finding]:
    """Look for the run and the push before this one, as a report would. The CI's API answers,
    mostly only with a token that the job must be given. A job without a box only announces merges.
    """
    job = context.job
    if (
        context.repository is None
        or job.bad_settings
        or not {"sha", "box_key"} <= job.fields.keys()
    ):
        return []  # another finding shows that: no report is made, or it holds no changes
    request = for_one_report(get_json)
    return [*_earlier_run(context, to, request), *_earlier_push(context, request)]


def _earlier_run(context: JobContext, to: Destination, request: GetJson) -> list[Finding]:
    _, past = remembered(context.job, (), to.store)
    base, notes = base_of(context.job, past, request)
    if not notes:
        what = "none that tested is known yet"
        if base.value is not None:
            what = f"changes count from {short(base.value)}, from {base.source}"
        return [Finding("earlier run", State.OK, what)]
    api = api_of(context.job)
    missing = api.missing_variables(context.job) if api else ()
    advice = f"set {' and '.join(missing)}, or {BASE_FIX}" if missing else BASE_FIX
    faults = []
    for note in notes:
        what = note.removesuffix(".")
        plain = what.removesuffix(f": {BASE_FIX}")
        fix = "" if plain == what else _sentence(advice)
        faults.append(Finding("earlier run", State.WARN, plain, fix))
    return faults


def _earlier_push(context: JobContext, request: GetJson) -> list[Finding]:
    if context.job.value("covers_shas") is not None:
        return []
    notes = stood_before(context.job, request).notes
    parted = (note.removesuffix(".").rpartition(": ") for note in notes)
    return [Finding("push", State.WARN, what, _sentence(fix)) for what, _, fix in parted]


def _sentence(fix: str) -> str:
    return fix[0].upper() + fix[1:]


def _spool(to: Destination) -> Finding:
    """Check the pending reports, and whether more could be kept."""
    store, nothing_kept = to.store, "nothing is kept when the server is away"
    if store is None:
        what = f"this user has no home: {nothing_kept}"
        return Finding("spool", State.WARN, what, "Set HWCI_SPOOL_DIR")
    if not _writable(store.folder):
        what = f"{store.folder} cannot be written: {nothing_kept}"
        return Finding("spool", State.WARN, what, "Set HWCI_SPOOL_DIR to a folder of this user")
    try:
        reports = store.reports()
    except StoreError as fault:
        return Finding("spool", State.WARN, f"{fault}: {nothing_kept}", fault.fix)
    if not reports:
        return Finding("spool", State.OK, f"{store.folder} is empty")
    waiting = [report for report in reports if report.state == "waiting"]
    aside = [report for report in reports if report.state != "waiting"]
    counts = (f"{counted(len(waiting), 'report')} waiting", unsent.set_aside(aside))
    what = f"{', '.join(filter(None, counts))}, in {store.folder}"
    if waiting:
        what += f", the oldest for {max(0.0, time.time() - waiting[0].created) / 3600:.1f} hours"
    fixes = ["Look (hwci spool list), and send: hwci spool flush"]
    fixes += [f"Or: {unsent.ways_back(aside)}"] if aside else []
    return Finding("spool", State.WARN, what, ". ".join((*fixes, *_for_others(store, to))))


def _for_others(store: BenchStore, to: Destination) -> list[str]:
    if not to.known:
        return []
    try:
        address = str(parse_address(to.url))
    except ServerAddressError:
        return []
    key = _usable_key(to)
    own = fingerprint_of(owner_of(key)) if key else None
    return list(unsent.for_others(store, address, own))


def _writable(folder: Path) -> bool:
    for there in (folder, *folder.absolute().parents):
        try:
            is_folder = stat.S_ISDIR(there.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            break
        return is_folder and os.access(there, os.W_OK | os.X_OK)
    return False


def _box_key(environ: Mapping[str, str]) -> Finding:
    try:
        named = environ.get("HWCI_BOX_FILE")
        path = box_file(Path(named) if named else None, environ)
        key = read_key(path)
    except NotInstalledError:
        return Finding("box key", State.OK, "none: this machine is not installed as a box")
    except ExplainedError as fault:
        return Finding("box key", State.FAIL, fault.message.cause, fault.message.fix)
    return Finding("box key", State.OK, f"{path} is of box {key.name} at {key.url}")
