# SPDX-License-Identifier: Apache-2.0
"""The tables of the guide "Report from CI" about CI systems, from their descriptions in
`hwci/ci/systems`. It decides which rows there are; every word of a system is its own.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hwci.ci.systems import SYSTEMS

GUIDE = Path(__file__).parent / "how-to" / "report-from-ci.md"
FIELDS = {
    "run_id": "`run_id`",
    "run_attempt": "`run_attempt`",
    "rerun_of": "`rerun_of`",
    "merge": "trigger `merge`",
    "nightly": "trigger `nightly`",
    "covers_shas": "push (`covers_shas`)",
    "box_key": "box",
    "ci_url": "page of the job (`ci_url`)",
    "conclusion": "result",
}
"""What `guide` of a system may have, and how the guide calls it."""

Row = Iterable[str]
Table = Callable[[Row, Iterable[Row]], str]


def _provided() -> Iterator[Row]:
    yield "`--ci` of `hwci init`", *(f"`{system.name}`" for system in SYSTEMS)
    for field, label in FIELDS.items():
        yield label, *(system.guide.get(field, "set it") for system in SYSTEMS)
    yield "summary on that page", *("yes" if system.show_summary else "" for system in SYSTEMS)


def _tokens() -> Iterator[Row]:
    for system in SYSTEMS:
        if (api := system.api) is not None:
            tokens = " or ".join(f"`{token}`" for token in api.tokens)
            yield system.title, tokens, api.rights, api.known_by


def guide(table: Table) -> str:
    """Return the guide with its tables as they should be: each stands below a mark of its name."""
    tables = {
        "provided": table(("Field", *(system.title for system in SYSTEMS)), _provided()),
        "tokens": table(
            ("System", "Variable of the token", "What it may do", "This job is known by"), _tokens()
        ),
    }
    text = GUIDE.read_text()
    for name, rows in tables.items():
        text = re.sub(
            rf"(<!-- {name}: made by docs/ci_systems\.py -->\n)(\|.*\n)*",
            lambda mark, rows=rows: f"{mark[1]}{rows}",  # type: ignore[misc]
            text,
        )
    return text
