# SPDX-License-Identifier: Apache-2.0
"""`hwci env`: what a report from here would say of its job, who told each field, and how to say
what is missing (contract, "Command line"). Nothing is reported, and no secret is shown.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from json import dumps
from typing import TYPE_CHECKING, Any

from hwci.cli.reporting.job import JobFlags, look_around
from hwci.cli.reporting.needs import missing_fields, way
from hwci.cli.terminal import options
from hwci.cli.terminal.render import draw, note, safe, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.ci.job import Job
    from hwci.ci.sourced import Sourced
    from hwci.cli.reporting.job import Here


def env(*, json: options.Json = False) -> None:
    """Show what is known of this job: each field, its value, and who told it.

    A flag of the reporting commands wins over HWCI_* variables, these over hwci.toml, that over the
    CI system, that over git. No secret is shown.

    For example:

      hwci env

      hwci env --json
    """
    place = look_around(JobFlags())
    job, notes = _with_base(place.job)
    notes = (*notes, *_notes(place))
    if json:
        say_json(_json(job, notes))
        return
    _draw(job)
    for line in (*job.faults, *_how(missing_fields(job)), *notes):
        note(line)


def _notes(place: Here) -> Sequence[str]:
    """Say what else is to be known of this job: nothing of it stands in a field."""
    doubt, no_git = place.doubt(), place.no_git()
    doubts = () if doubt is None else (f"doubtful: suite: {doubt.what}. {doubt.fix}",)
    changed = place.changed()
    dirty = () if changed is None else (f"doubtful: sha: {changed.what}. {changed.fix}.",)
    return (*place.without(), *(() if no_git is None else (f"{no_git}.",)), *dirty, *doubts)


def _with_base(job: Job) -> tuple[Job, tuple[str, ...]]:
    """Add since when a report would count changes: so it can be asked before one is sent."""
    from hwci.ci.reporting.under_test import base_of
    from hwci.ci.state import State, state_folder
    from hwci.ci.systems.api import get_json

    base, notes = base_of(job, State(state_folder(job.environ)), get_json)
    return replace(job, fields={**job.fields, "base_sha": base}), notes


def _known(job: Job) -> dict[str, Sourced[Any]]:
    """Give all fields that are known, the product among them."""
    from hwci.ci.fields import BY_NAME

    product = job.product()
    known = {**job.fields, **({} if product is None else {"suite": product})}
    return {name: known[name] for name in BY_NAME if name in known}


def _how(missing: dict[str, list[str]]) -> Sequence[str]:
    return [
        f"missing: {name}, for {' and '.join(commands)}: {way(name)}"
        for name, commands in missing.items()
    ]


def _server() -> dict[str, bool]:
    """Tell whether it is known where to report, and with which key."""
    names = ("HWCI_URL", "HWCI_CI_KEY")
    return {name: any(os.environ.get(form) for form in (name, f"{name}_FILE")) for name in names}


def _json(job: Job, notes: Sequence[str]) -> str:
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
            name: {"value": _plain(told.value), "by": told.source}
            for name, told in _known(job).items()
        },
        "missing": missing,
        "faults": list(job.faults),
        "notes": list(notes),
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


def _draw(job: Job) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for header in ("Field", "Value", "Source"):
        table.add_column(header, overflow="fold")
    rows = [("CI system", job.title, ""), *_rows(job)]
    rows += [(name, "set" if there else "not set", "") for name, there in _server().items()]
    for row in rows:
        table.add_row(*(Text(safe(cell)) for cell in row))
    draw(table)


def _rows(job: Job) -> list[tuple[str, str, str]]:
    return [(name, _shown(_plain(told.value)), told.source) for name, told in _known(job).items()]
