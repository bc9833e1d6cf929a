# SPDX-License-Identifier: Apache-2.0
"""Lists that are shown a page at a time: their flags, the page, and the way to the other pages."""

from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from hwci.cli.terminal import render, tables
from hwci.wire import limits

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hwci.wire.base import ListPage

Row = TypeVar("Row", bound="BaseModel")

Page = Annotated[int, typer.Option(min=1, help="Which page of the list.")]
Limit = Annotated[int, typer.Option(min=1, max=limits.PAGE_LIMIT_MAX, help="Rows of a page.")]


def show(
    found: "ListPage[Row]", layout: "tables.Layout[Row]", form: render.Format, noun: str
) -> None:
    """Write a page of a list, and the way to the others. JSON is the page as the API gives it."""
    if form is render.Format.JSON:
        render.emit_json(found)
        return
    beyond = found.total and not found.items
    if not (beyond and form is render.Format.TABLE):
        render.emit(layout, found.items, form)
    if hint := elsewhere(noun, found.total, len(found.items), found.page, found.limit):
        render.note(hint)


def elsewhere(noun: str, total: int, shown: int, page: int, limit: int) -> str:
    """Return the way to what this page does not show."""
    kept = "" if limit == limits.PAGE_LIMIT_DEFAULT else f" --limit {limit}"
    if not shown and total:
        last = -(-total // limit)
        ends = f"{tables.counted(total, noun)} on {tables.counted(last, 'page')}"
        return f"Page {page} is beyond the end: {ends}. The last one: --page {last}{kept}"
    rest = total - (page - 1) * limit - shown
    return f"… {rest} more: --page {page + 1}{kept}" if rest > 0 else ""
