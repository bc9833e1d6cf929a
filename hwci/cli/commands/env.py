# SPDX-License-Identifier: Apache-2.0
"""`hwci env`: what a report from here would say of its job, who told each field, and how to say
what is missing (contract, "Command line"). Nothing is reported, and no secret is shown.
"""

from __future__ import annotations

import os
from datetime import datetime
from json import dumps
from typing import TYPE_CHECKING, Any

from hwci.cli.session.reporter import command_context
from hwci.cli.terminal import options
from hwci.cli.terminal.render import draw, note, safe, say_json

if TYPE_CHECKING:
    from hwci.ci.reporting import JobDescription


def env(*, json: options.Json = False) -> None:
    """Show what is known of this job: each field, its value, and who told it.

    A flag of the reporting commands wins over HWCI_* variables, these over hwci.toml, that over the
    CI system, that over git. No secret is shown.

    For example:

      hwci env

      hwci env --json
    """
    from hwci.ci.reporting import describe_job, way

    job = describe_job(command_context())
    if json:
        say_json(_json(job))
        return
    _draw(job)
    missing = [
        f"missing: {field.name}, for {' and '.join(commands)}: {way(field.name)}"
        for field, commands in job.missing
    ]
    for line in (*job.faults, *missing, *job.notes):
        note(line)


def _server() -> dict[str, bool]:
    """Return whether the server and the key are set."""
    names = ("HWCI_URL", "HWCI_CI_KEY")
    return {name: any(os.environ.get(form) for form in (name, f"{name}_FILE")) for name in names}


def _json(job: JobDescription) -> str:
    said = {
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
        "faults": list(job.faults),
        "notes": list(job.notes),
        "isSet": _server(),
    }
    return dumps(said, indent=2, ensure_ascii=False)


def _plain(value: Any) -> object:  # noqa: ANN401 - the fields have the types of the spec
    from hwci.wire.base import write_time

    return write_time(value) if isinstance(value, datetime) else value


def _shown(value: object) -> str:
    if value is None:
        return "not known"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _draw(job: JobDescription) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for header in ("Field", "Value", "Source"):
        table.add_column(header, overflow="fold")
    rows = [("CI system", job.title, "")]
    rows += [
        (name, _shown(_plain(field.value)), field.source) for name, field in job.fields.items()
    ]
    rows += [(name, "set" if there else "not set", "") for name, there in _server().items()]
    for row in rows:
        table.add_row(*(Text(safe(cell)) for cell in row))
    draw(table)
