# SPDX-License-Identifier: Apache-2.0
"""Below the metrics page stands what is still failing, in the same scope and period."""

import csv
import io
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hwci.cli.terminal.metrics_page import Scope, pending_command
from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.support.running import running_in_thread
from tests.support.scene import PRODUCT, A, E, report

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.usefixtures("busy_server")
def test_a_terminal_shows_it_below_the_four_tables(signed_in: Command) -> None:
    above, below = signed_in("metrics").out.split("Still failing (pending) (1 in 1 incident)")

    assert "Flakiest tests (4)" in above
    for cell in ("First failed", "adc", "bench-1", "main", E[:12], "device", "2 days ago"):
        assert cell in below
    assert "more" not in below
    assert "a row for each incident: hwci incidents list --label pending --days 30" in below


@pytest.mark.usefixtures("busy_server")
def test_a_document_and_a_spreadsheet_have_it_too(signed_in: Command) -> None:
    whole = signed_in("metrics", "-o", "md").out
    document = whole.split("### Still failing (pending) (1 in 1 incident)")[1]
    *_, block = signed_in("metrics", "-o", "csv").out.split("\n\n")
    [row] = csv.DictReader(io.StringIO(block))

    assert "| adc | bench-1 | main | eeeeeeeeeeee | device |" in document
    assert [row[key] for key in ("table", "testId", "sha", "label")] == [
        "pending",
        "adc",
        E,
        "pending",
    ]


@pytest.mark.usefixtures("busy_server")
def test_nothing_to_show_is_stated_in_words(signed_in: Command) -> None:
    for form in ("table", "md"):
        out = signed_in("metrics", "-o", form, "--as-of", "2001-01-01T00:00:00Z").out
        assert "Still failing (pending) (0)" in out
        assert "Nothing: each failure of the period is a flake or resolved, or none" in out


def test_the_rest_is_one_command_away(cli: Command, tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        settings = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token}
        with Client(server.url, ci_key=server.ci_key) as client:
            client.send(calls.report_run(report(1, A, dict.fromkeys("abc", "fail"))))
        out = cli("metrics", "--days=40", "--product", PRODUCT, "--limit=1", **settings).out
        [way] = [line for line in out.splitlines() if "--label pending" in line and "more" in line]
        rest, command = way.split(" more: ")
        listed = cli(*shlex.split(command)[1:], "-o", "csv", **settings).out

    assert rest.strip() == "… 2"
    assert command == f"hwci failures list --label pending --days 40 --product {PRODUCT}"
    assert {row["testId"] for row in csv.DictReader(io.StringIO(listed))} == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("scope", "ends"),
    [
        (Scope(30), "--days 30"),
        (Scope(7, "acme fw"), "--days 7 --repo-key 'acme fw'"),
        (Scope(7, "a", "b c"), "--days 7 --product 'a:b c'"),
        (Scope(7, as_of=NOON), "--days 7 --as-of 2026-01-31T12:00:00+00:00"),
    ],
)
def test_that_command_asks_for_the_same_products_and_period(scope: Scope, ends: str) -> None:
    assert pending_command(scope) == f"hwci failures list --label pending {ends}"
