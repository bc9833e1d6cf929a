# SPDX-License-Identifier: Apache-2.0
"""Every limit of the contract has a name and stands in the list of limits, `docs/reference`."""

import ast
import re
from pathlib import Path

from docs.generate import ENFORCED, REFERENCE, constants
from hwci.analysis.failures import advice, what_if
from hwci.wire import limits

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    path for room in ("hwci/server", "hwci/wire") for path in (ROOT / room).rglob("*.py")
)
STATIC = ROOT / "hwci/server/web/static/js"
BOUNDS = {"max_length", "min_length", "max_items", "min_items", "ge", "gt", "le", "lt"}
NUMBERS = {0, 1, 2}
"""Nothing, one and a pair are no limits."""

OF_ITS_OWN_WORK = {
    *("APART_BYTES", "THREAD_BYTES", "PIECE_BYTES", "BUFFER_BYTES"),  # where work is done
    *("ARRIVE_SECONDS", "PAUSE_SECONDS", "CUT_SECONDS", "STOP_SECONDS"),  # its end
    *("GRACE_SECONDS", "LEAVE_SECONDS", "GOODBYE_SECONDS", "TLS_SHUTDOWN_SECONDS"),
    *("FILES_MOST", "ENTRIES_MAX", "SIZE_MAX", "KEYS_MAX", "VALKEY_SECONDS"),  # its memory
    *(
        "SWEEP_SECONDS",
        "FORGET_SECONDS",
        "KEEP_SECONDS",
        "DECISIONS_SECONDS",
        "GUESSES_SECONDS",
        "KEYS_SECONDS",
        "SEND_SECONDS",
        "WATCH_SECONDS",
        "INCIDENTS_SECONDS",
        "BOXES_SECONDS",
        "COME_BACK_SECONDS",
    ),
    "RETRY_AFTER_SECONDS",  # what it repeats
    *("REBUILD_SECONDS", "EXPORT_SECONDS", "HISTORY_SECONDS", "KEY_BYTES_MIN"),  # its operator's
    "SENT_BYTES",
}
"""Constants of the server that no caller can exceed."""


def bare_numbers(path: Path) -> list[str]:
    """Return where a length is compared with a number, or a field bounded by one."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and any(map(is_length, (node.left, *node.comparators))):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call):
            sides = [keyword.value for keyword in node.keywords if keyword.arg in BOUNDS]
        found += [
            f"{path.relative_to(ROOT)}:{side.lineno}"
            for side in sides
            if isinstance(side, ast.Constant) and side.value not in NUMBERS
        ]
    return found


def is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "len"


def test_every_limit_of_a_length_or_a_number_has_a_name() -> None:
    assert [place for path in MODULES for place in bare_numbers(path)] == []


def test_every_limit_that_a_caller_may_meet_is_in_the_list() -> None:
    listed = {name for names in ENFORCED.values() for name in names}
    found = {
        name
        for path in MODULES
        for name in re.findall(
            r"^([A-Z][A-Z_]*_(?:MAX|MIN|MOST|BYTES|SECONDS|LIFETIME)) = ",
            path.read_text(),
            re.MULTILINE,
        )
    }

    assert found - listed - set(constants(limits)) - OF_ITS_OWN_WORK == set()
    page = (REFERENCE / "limits.md").read_text()
    assert {*listed, *constants(limits)} == set(
        re.findall(r"^\| `([A-Z_]+)` \| (?!\d+ per 1 minute \| Requests)", page, re.MULTILINE)
    )


def test_the_page_lets_people_type_as_much_as_the_server_takes() -> None:
    named = {value for value in vars(limits).values() if isinstance(value, int)}
    text = "".join(path.read_text() for path in STATIC.rglob("*.js"))
    typed = {int(number) for number in re.findall(r'm(?:ax|in)length(?:="|: )(\d+)', text)}

    assert typed - named == {len(str(limits.INTEGER_MAX))}


def test_the_analysis_has_the_limits_of_the_wire() -> None:
    held = advice.COMMITS_MAX, advice.FILES_MAX, what_if.PATTERNS_MAX

    assert held == (limits.COMMITS_MAX, limits.FILES_MAX, limits.PATTERNS_MAX)
