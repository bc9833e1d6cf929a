# SPDX-License-Identifier: Apache-2.0
"""The fields of a job as `hwci env` shows them: a list like all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from hwci.cli.terminal.render import Format, emit
from hwci.cli.terminal.tables import Column, Layout

if TYPE_CHECKING:
    from collections.abc import Iterable


class FieldRow(BaseModel):
    """A field of the job, with its value and where that comes from."""

    name: str
    value: str
    source: str


LAYOUT: Layout[FieldRow] = Layout(
    "env",
    "This job",
    [
        Column("Field", lambda row: row.name),
        Column("Value", lambda row: row.value),
        Column("Source", lambda row: row.source),
    ],
    "name value source",
    "",
)


def show(rows: Iterable[tuple[str, str, str]]) -> None:
    """Write the fields."""
    fields = [FieldRow(name=name, value=value, source=source) for name, value, source in rows]
    emit(LAYOUT, fields, Format.TABLE)
