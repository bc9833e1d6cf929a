# SPDX-License-Identifier: Apache-2.0
"""Every row of the specification is listed in `rows.py`, and what is listed is shown or excused.

The tests quote rows by themselves (`quoting.shows`); the list is written by hand from the
specification and held against it.
"""

import re
from pathlib import Path

from tests.spec.quoting import quoted
from tests.spec.rows import ROWS, UNSHOWN

SPECIFICATION = Path(__file__).parents[2] / "docs" / "specification.md"


LISTED = {row: shown for rows in ROWS.values() for row, shown in rows.items()}


def test_a_row_stands_in_the_list_once() -> None:
    assert len(LISTED) == sum(len(rows) for rows in ROWS.values())


def test_each_row_is_quoted_by_the_test_that_is_named_for_it() -> None:
    quotes = quoted()
    named = {row: shown.partition(UNSHOWN)[0] for row, shown in LISTED.items()}

    assert quotes.keys() == {row for row, test in named.items() if test}
    assert [row for row, test in named.items() if test and test not in quotes[row]] == []


def test_a_row_that_no_test_shows_has_a_reason() -> None:
    for row, shown in LISTED.items():
        test, unshown, reason = shown.partition(UNSHOWN)
        assert test or unshown, row
        assert bool(unshown) == bool(reason), row


def rows_of(text: str) -> dict[str, list[str]]:
    """Return the rows of every table and numbered list of a document, by heading."""
    found: dict[str, list[str]] = {}
    heading = ""
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("#"):
            heading = line.strip("# ")
        is_head = following.startswith("|---") or line.startswith("|---")
        if re.match(r"\d+\. ", line) or (line.startswith("|") and not is_head):
            found.setdefault(heading, []).append(line)
    return found


def test_the_list_has_every_row_of_the_specification_to_the_letter() -> None:
    assert {heading: list(rows) for heading, rows in ROWS.items()} == rows_of(
        SPECIFICATION.read_text(encoding="utf-8")
    )
