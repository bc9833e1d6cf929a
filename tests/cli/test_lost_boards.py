# SPDX-License-Identifier: Apache-2.0
"""What the terminal says of failures in runs that lost their board."""

import csv
import io
import json

import pytest

from tests.cli.conftest import Command
from tests.support.lost_board import BUG, LOST_AT, OTHERS, REAL, lose_boards
from tests.support.running import RunningServer

pytestmark = pytest.mark.clock


@pytest.fixture(scope="module", autouse=True)
def boards_lost(server: RunningServer) -> None:
    lose_boards(server)


def ids_in(out: str) -> list[str]:
    return sorted(row["testId"] for row in csv.DictReader(io.StringIO(out)))


def test_below_each_table_stands_how_many_rows_lie_in_lost_runs(signed_in: Command) -> None:
    out = signed_in("metrics", COLUMNS="200").out

    assert f"Real FW bugs caught ({len(REAL) + 1})" in out
    for table, tests in (("real-bugs", REAL), ("other-failures", OTHERS)):
        flags = f"--table {table} --lost-board"
        assert f"{len(tests)} of them in runs that lost the board: {flags}" in out
        assert ids_in(signed_in("metrics", *flags.split(), "-o", "csv").out) == tests


def test_the_tiles_in_csv_have_the_number(signed_in: Command) -> None:
    tiles = signed_in("metrics", "-o", "csv").out.partition("\n\n")[0]
    lost = {row["tile"]: row["lostBoard"] for row in csv.DictReader(io.StringIO(tiles))}
    assert lost.pop("Real FW bugs caught") == str(len(REAL))
    assert set(lost.values()) == {""}


def test_failures_are_listed_and_narrowed_in_every_form(signed_in: Command) -> None:
    lost = ("failures", "list", "--lost-board")
    assert ids_in(signed_in(*lost, "-o", "csv").out) == sorted([*REAL, *OTHERS])
    page = json.loads(signed_in(*lost, "--test", LOST_AT, "--json").out)
    assert [row["testId"] for row in page["items"]] == [LOST_AT]
    none = signed_in(*lost, "--label", "pending")
    assert "No failure that you ask for lies in a run that lost its board." in none.err


def test_one_failure_says_where_the_board_was_lost(signed_in: Command) -> None:
    def shown(test: str) -> str:
        found = signed_in("failures", "list", "--test", test, "--json").out
        [*_, first] = json.loads(found)["items"]
        return signed_in("failures", "show", first["id"], COLUMNS="200").out

    said = "In this run the board was lost at"
    assert f"board        {said} {LOST_AT}; what failed after it says little." in shown("test_11")
    assert said not in shown(BUG)


@pytest.mark.parametrize("table", [(), ("--table", "flakiest-tests")])
def test_only_resolved_failures_are_narrowed(signed_in: Command, table: tuple[str, ...]) -> None:
    code, _, err = signed_in("metrics", *table, "--lost-board")
    assert code == 2
    assert "--lost-board stands without --table real-bugs or other-failures" in err
