# SPDX-License-Identifier: Apache-2.0
"""`hwci env`: what a report from here would say of its job, who told each field, and how to say
what is missing (contract, "Command line"). Nothing is sent, and no secret is shown.
"""

from __future__ import annotations

import os
from datetime import datetime
from json import dumps
from typing import TYPE_CHECKING, Any

from hwci.cli import options
from hwci.cli.job import JobFlags, look_around
from hwci.cli.render import draw, note, safe, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.ci.job import Job

NEEDED = {
    "report-run": (
        *("repo_key", "workflow", "run_id", "run_attempt", "trigger", "branch", "sha"),
        "box_key",
    ),
    "merge-announce": ("repo_key", "branch", "sha", "merged_at"),
}
"""What each command cannot do without, and result files do not hold."""


def env(*, json: options.Json = False) -> None:
    """Show what is known of this job: each field, its value, and who told it.

    A flag of the reporting commands wins over HWCI_* variables, these over hwci.toml, that over the
    CI system, that over git. No secret is shown.

    For example:

      hwci env

      hwci env --json
    """
    job = look_around(JobFlags()).job
    if json:
        say_json(_json(job))
        return
    _draw(job)
    for line in (*job.faults, *_how(missing_fields(job))):
        note(line)


def missing_fields(job: Job) -> dict[str, list[str]]:
    """Give each field that nobody told, with the commands that need it."""
    return {
        name: commands
        for name in dict.fromkeys(name for names in NEEDED.values() for name in names)
        if name not in job.fields
        and (commands := [command for command, names in NEEDED.items() if name in names])
    }


def _how(missing: dict[str, list[str]]) -> Sequence[str]:
    from hwci.ci.fields import BY_NAME

    return [
        f"missing: {name}, for {' and '.join(commands)}: {BY_NAME[name].flag} or "
        f"{BY_NAME[name].variable}"
        for name, commands in missing.items()
    ]


def _server() -> dict[str, bool]:
    """Tell whether it is known where to report, and with which key."""
    names = ("HWCI_URL", "HWCI_CI_KEY")
    return {name: any(os.environ.get(form) for form in (name, f"{name}_FILE")) for name in names}


def _json(job: Job) -> str:
    from hwci.ci.fields import BY_NAME

    missing = [
        {
            "field": name,
            "flag": BY_NAME[name].flag,
            "variable": BY_NAME[name].variable,
            "neededBy": commands,
        }
        for name, commands in missing_fields(job).items()
    ]
    said = {
        "system": job.system,
        "fields": {
            name: {"value": _plain(told.value), "by": told.by} for name, told in job.fields.items()
        },
        "missing": missing,
        "faults": list(job.faults),
        "isSet": _server(),
    }
    return dumps(said, indent=2, ensure_ascii=False)


def _plain(value: Any) -> object:  # noqa: ANN401 - the fields have the types of the spec
    from hwci.wire.base import write_time

    return write_time(value) if isinstance(value, datetime) else value


def _draw(job: Job) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for header in ("Field", "Value", "Told by"):
        table.add_column(header, overflow="fold")
    rows = [("CI system", job.title, ""), *_rows(job)]
    rows += [(name, "set" if there else "not set", "") for name, there in _server().items()]
    for row in rows:
        table.add_row(*(Text(safe(cell)) for cell in row))
    draw(table)


def _rows(job: Job) -> list[tuple[str, str, str]]:
    return [
        (name, ", ".join(map(str, value)) if isinstance(value, tuple) else str(value), told.by)
        for name, told in job.fields.items()
        for value in [_plain(told.value)]
    ]
