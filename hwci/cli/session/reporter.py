# SPDX-License-Identifier: Apache-2.0
"""What a command hands to `hwci.ci.reporting`, and how it shows what came of it (contract, "Command
line"): a server that refuses or is away fails no build unless the caller is strict.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hwci.cli.session.settings import KEY_FILE, Flags, Settings, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.errors import warn
from hwci.cli.terminal.render import command_line, note, write_json
from hwci.client.explained import ExitCode, ExplainedError, explain, wrong_usage

if TYPE_CHECKING:
    from hwci.ci.reporting import CommandContext, Done, Identity, Sending
    from hwci.client.delivery.job_key import JobKey
    from hwci.client.delivery.sending import Destination, NoKey


def command_context() -> CommandContext:
    """Return what this command knows of where it runs."""
    from hwci.bench.box_key import installed_as
    from hwci.ci.reporting import CommandContext

    try:
        cwd = Path.cwd()
    except FileNotFoundError:
        cwd = None
    return CommandContext(
        os.environ, cwd, options.now, note, command_line, installed_as(os.environ)
    )


def sending(
    flags: Flags, deadline_s: float | None, *, dry_run: bool = False, summary: bool = True
) -> Sending:
    """Return how reports go out."""
    from hwci.ci.reporting import Sending

    return Sending(None if dry_run else destination(resolve(flags)), deadline_s, summary)


def destination(settings: Settings) -> Destination:
    """Return where reports go, and with which key."""
    from hwci.client.delivery.sending import UNREAD_KEY, Destination
    from hwci.client.errors import HwciError
    from hwci.client.store import bench_store
    from hwci.client.store.lifetime import outlives_job

    key: str | JobKey = UNREAD_KEY
    no_key = None
    try:
        key = ci_key(settings)
    except (HwciError, ExplainedError) as fault:
        no_key = _no_key(fault, settings)
    store = bench_store(settings.environ)
    lasts = store is not None and outlives_job(store.folder, settings.environ)
    return Destination(settings.url, settings.named_server, key, no_key, store, lasts)


def ci_key(settings: Settings) -> str | JobKey:
    """Return the key of the environment; without one, what signs this job in to the organization
    that HWCI_ORG names.

    Raises:
        HwciError: there is neither, or no header can hold the key.
        ExplainedError: the key or the organization cannot be read.
    """
    from hwci.client._call import Credential
    from hwci.client._protocol import usable
    from hwci.client.delivery.job_key import JobKey
    from hwci.wire.base import read_id

    key = settings.ci_key()
    identity = _identity(settings) if key is None else None
    if identity is None or not identity.is_offered(settings.environ):
        return usable(key, Credential.CI_KEY)
    org_id = read_id(settings.org or "")
    if org_id is None:
        raise wrong_usage(
            "The job does not sign in",
            f"HWCI_ORG is {settings.org!r}, and a job names its organization by the id",
            "Set HWCI_ORG to the id (hwci orgs list shows it), or give the job HWCI_CI_KEY",
        )
    return JobKey(settings.url, org_id, lambda: identity.token(settings.environ, settings.url))


def _identity(settings: Settings) -> Identity | None:
    """Return how this job gets a token, if it names a server and an organization to sign in to."""
    from hwci.ci.reporting import job_identity

    wanted = settings.named_server and settings.org is not None
    return job_identity(settings.environ) if wanted else None


def _no_key(fault: Exception, settings: Settings) -> NoKey:
    """Return why there is no key. A secret that is not mounted, or was cut short, is no wrong
    usage: who runs the job did not call the command wrongly.
    """
    from hwci.client.delivery.sending import NoKey
    from hwci.client.errors import CredentialMissingError, HwciError

    if isinstance(fault, ExplainedError):
        cause = f"{fault.message.what}: {fault.message.cause}"
        return NoKey(replace(fault.message, cause=cause, code=ExitCode.FAILED), meant=True)
    assert isinstance(fault, HwciError)
    if not isinstance(fault, CredentialMissingError):
        return NoKey(replace(explain(fault), code=ExitCode.FAILED), meant=True)
    message, file = explain(fault, by_ci_key=True), settings.environ.get(KEY_FILE)
    if not file:
        identity = _identity(settings)
        fix = message.fix if identity is None else f"To sign the job in: {identity.grant}"
        return NoKey(replace(message, fix=fix), meant=False)
    return NoKey(replace(message, cause=f"{file}, which {KEY_FILE} names, is empty"), meant=True)


def show(done: Done, *, strict: bool) -> None:
    """Show what came of a command: bodies on stdout, warnings on stderr; a strict caller gets the
    first warning as an error.
    """
    for body in done.bodies:
        write_json(body.decode())
    strict = strict and done.error is None
    for message in done.messages:
        warn(message, strict=strict or message.wrong_usage)
    if done.error is not None:
        raise done.error
