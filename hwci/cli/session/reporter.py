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
from hwci.client.explained import ExitCode, ExplainedError, explain

if TYPE_CHECKING:
    from hwci.ci.reporting import CommandContext, Done, Sending
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
    from hwci.client._call import Credential
    from hwci.client._protocol import usable
    from hwci.client.delivery.sending import UNREAD_KEY, Destination
    from hwci.client.errors import HwciError
    from hwci.client.store import bench_store
    from hwci.client.store.lifetime import outlives_job

    key, no_key = UNREAD_KEY, None
    try:
        key = usable(settings.ci_key(), Credential.CI_KEY)
    except (HwciError, ExplainedError) as fault:
        no_key = _no_key(fault, settings)
    store = bench_store(settings.environ)
    lasts = store is not None and outlives_job(store.folder, settings.environ)
    return Destination(settings.url, settings.named_server, key, no_key, store, lasts)


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
        return NoKey(message, meant=False)
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
