# SPDX-License-Identifier: Apache-2.0
"""Reading what an API answers: lists, page after page, and the places in their rows.

An answer of another shape is no answer: a list that is not there must not look like an empty one.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from hwci.ci.systems.api import ApiError, GetJson

PER_PAGE = 100
PAGES = 3
"""Later runs than this one stand before those that came before it."""

Row = Mapping[str, Any]


def pages(
    get_json: GetJson,
    address: str,
    wanted: Mapping[str, str],
    headers: Mapping[str, str],
    *path: str,
) -> Iterator[Row]:
    """Give the rows of a list, page after page, as far as they are taken.

    Raises:
        ApiError: there is no answer, or the list goes on beyond what is looked at.
    """
    for page in range(1, PAGES + 1):
        query = urlencode({**wanted, "per_page": str(PER_PAGE), "page": str(page)})
        rows = listed(get_json(f"{address}?{query}", headers), address, *path)
        yield from rows
        if len(rows) < PER_PAGE:
            return
    raise ApiError(f"{address} lists more than {PAGES * PER_PAGE}")


def listed(answer: object, address: str, *path: str) -> list[Row]:
    """Give the objects of a list that stands at a place of an answer.

    Raises:
        ApiError: no such list stands there.
    """
    rows = inside(answer, *path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ApiError(f"{address} answers in a form that is not known")
    return rows


def inside(answer: object, *path: str) -> object:
    """Follow keys into an answer; None where one is missing."""
    for key in path:
        answer = answer.get(key) if isinstance(answer, dict) else None
    return answer


def number_of(row: Row, key: str) -> int:
    """Give a number of a row, or one that nothing is before."""
    value = row.get(key)
    return value if isinstance(value, int) else 2**63


def only(rows: list[Row]) -> Row | None:
    """Give the row of a list that has one; of several, none is known to be the one."""
    return rows[0] if len(rows) == 1 else None
