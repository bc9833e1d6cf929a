# SPDX-License-Identifier: Apache-2.0
"""Lists that the command line shows a page at a time: their flags, and how to get at the rest."""

from typing import Annotated

import typer

from hwci.cli.terminal import tables
from hwci.wire import limits

Page = Annotated[int, typer.Option(min=1, help="Which page of the list.")]
Limit = Annotated[int, typer.Option(min=1, max=limits.PAGE_LIMIT_MAX, help="Rows of a page.")]


def elsewhere(noun: str, total: int, shown: int, page: int, limit: int) -> str:
    """Say how to get at what this page does not show."""
    kept = "" if limit == limits.PAGE_LIMIT_DEFAULT else f" --limit {limit}"
    if not shown and total:
        last = -(-total // limit)
        ends = f"{tables.counted(total, noun)} on {tables.counted(last, 'page')}"
        return f"Page {page} is beyond the end: {ends}. The last one: --page {last}{kept}"
    rest = total - (page - 1) * limit - shown
    return f"… {rest} more: --page {page + 1}{kept}" if rest > 0 else ""
