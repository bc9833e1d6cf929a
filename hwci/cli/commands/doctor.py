# SPDX-License-Identifier: Apache-2.0
"""What a job would report, before it does (contract, "Command line"): `hwci env` shows each field
with its source, `hwci doctor` what would keep a report from arriving. The checks are in
`hwci.bench.checks`. Nothing is reported, and no secret is shown.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import datetime
from json import dumps
from typing import TYPE_CHECKING

import typer

from hwci.cli.commands.admin.database import sqlite_here
from hwci.cli.session.reporter import command_context, destination
from hwci.cli.session.settings import Flags, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.again import in_full
from hwci.cli.terminal.render import note, write, write_json
from hwci.client.explained import ExitCode

if TYPE_CHECKING:
    from hwci.ci.reporting import JobDescription


def doctor(
    json: options.Json = False, url: options.Url = None, profile: options.Profile = None
) -> None:
    """Check that reports from here will arrive: server, key, clock, git, CI, proxy, spool, box key.

    In a job of a bench, the run and the push before this one are looked for, too, as a report
    would: without them it holds less.

    Exit code 1 when something fails, 0 with warnings only. Nothing is changed, nothing is reported.

    For example:

      hwci doctor

      hwci doctor --json
    """
    from hwci.bench.checks import State, check_reporting
    from hwci.ci.reporting import JobFlags, look_around

    to = destination(resolve(Flags(url, profile)))
    context = look_around(JobFlags(), command_context()).of_a_merge()
    checks = [*check_reporting(context, to), sqlite_here()]
    if json:
        write_json(dumps([asdict(check) for check in checks], indent=2, ensure_ascii=False))
    else:
        for check in checks:
            write(f"{check.state:4}  {check.check}: {check.what}")
            if check.fix:
                write(in_full(f"      fix: {check.fix}"))
    if any(check.state is State.FAIL for check in checks):
        raise typer.Exit(ExitCode.FAILED)


def env(*, json: options.Json = False) -> None:
    """Show what is known of this job: each field, its value and its source.

    A flag of the reporting commands wins over HWCI_* variables, these over hwci.toml, that over the
    CI system, that over git. No secret is shown.

    For example:

      hwci env

      hwci env --json
    """
    from hwci.ci.reporting import describe_job, way

    job = describe_job(command_context())
    if json:
        write_json(_json(job))
        return
    _draw(job)
    missing = [
        f"missing: {field.name}, for {' and '.join(commands)}: {way(field.name)}"
        for field, commands in job.missing
    ]
    for line in (*job.bad_settings, *missing, *job.notes):
        note(line)


def _server() -> dict[str, bool]:
    """Return whether the server and the key are set."""
    names = ("HWCI_URL", "HWCI_CI_KEY")
    return {name: any(os.environ.get(form) for form in (name, f"{name}_FILE")) for name in names}


def _json(job: JobDescription) -> str:
    answer = {
        "system": job.system,
        "fields": {
            name: {"value": _plain(field.value), "by": field.source}
            for name, field in job.fields.items()
        },
        "missing": [
            {
                "field": field.name,
                "flag": field.flag,
                "variable": field.variable,
                "neededBy": commands,
            }
            for field, commands in job.missing
        ],
        "faults": list(job.bad_settings),
        "notes": list(job.notes),
        "isSet": _server(),
    }
    return dumps(answer, indent=2, ensure_ascii=False)


def _plain(value: object) -> object:
    from hwci.wire.base import write_time

    return write_time(value) if isinstance(value, datetime) else value


def _shown(value: object) -> str:
    if value is None:
        return "not known"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _draw(job: JobDescription) -> None:
    from hwci.cli.terminal import job_fields

    rows = [("CI system", job.title, "")]
    rows += [
        (name, _shown(_plain(field.value)), field.source) for name, field in job.fields.items()
    ]
    rows += [(name, "set" if there else "not set", "") for name, there in _server().items()]
    job_fields.show(rows)
