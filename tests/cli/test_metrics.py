# SPDX-License-Identifier: Apache-2.0
"""`hwci metrics`: tiles and tables as people, spreadsheets and programs read them."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from hwci.client import Client, calls
from hwci.said import tenths
from tests.cli.conftest import Command
from tests.support.answering import Answer as Canned
from tests.support.answering import answering
from tests.support.running import RunningServer, running_in_thread
from tests.support.scene import BOX, HOSTILE, PRODUCT, REPO, UNSEEN, B, merge, report

pytestmark = [pytest.mark.clock, pytest.mark.usefixtures("busy_server")]


def test_the_four_tiles_and_the_four_tables_stand_below_a_header(
    signed_in: Command, server: RunningServer
) -> None:
    code, out, err = signed_in("metrics")

    assert (code, err) == (0, "")
    first, *_ = out.splitlines()
    assert first.startswith("All products · last 30 days (")
    assert first.endswith(server.url)
    for text in (
        "1 of 2",
        "50.0 % (not enough data)",
        "1 bench or harness,",
        "0 ambiguous, 0 dismissed",
        "1 of 7",
        "14.3 % (2.6-51.3)",
    ):
        assert text in out
    for title in (
        "Merges not checked on hardware (1)",
        "Real FW bugs caught (1)",
        "Resolved by a bench or harness change, ambiguous or dismissed (1)",
        "Flakiest tests (4)",
    ):
        assert title in out
    assert "Fix touched harness paths" in out
    assert "3 days ago" in out


def test_people_see_short_hashes_and_machines_whole_ones(signed_in: Command) -> None:
    table = signed_in("metrics").out
    data = json.loads(signed_in("metrics", "--json").out)

    assert UNSEEN[:12] in table
    assert UNSEEN[:13] not in table
    assert data["uncheckedMerges"]["items"][0]["sha"] == UNSEEN
    assert UNSEEN in signed_in("metrics", "--output", "csv").out


def test_json_is_the_answer_of_the_api(signed_in: Command) -> None:
    page = json.loads(signed_in("metrics", "--json").out)

    assert list(page) == [
        "period",
        "product",
        "tiles",
        "uncheckedMerges",
        "realBugs",
        "otherFailures",
        "flakiestTests",
    ]
    assert page["realBugs"]["items"][0]["class"] == "real_fw_bug"
    assert page["realBugs"]["items"][0]["brokenBy"]["from"] == "b" * 40


def test_one_product_is_named_in_the_header_and_in_no_column(signed_in: Command) -> None:
    out = signed_in("metrics", "--product", PRODUCT).out

    assert out.startswith(f"{PRODUCT} · last 30 days")
    assert "Product" not in out


def test_all_products_of_a_repository_can_be_asked_for(signed_in: Command) -> None:
    assert signed_in("metrics", "--repo-key", REPO).out.startswith(f"All products of {REPO} · ")


def test_a_repository_is_named_by_either_spelling_of_its_flag(
    signed_in: Command, in_ci: Command
) -> None:
    head = ("--sha", "a" * 40, "--branch", "main", "--merged-at", "2026-01-01T00:00:00Z")

    for flag in ("--repo", "--repo-key"):
        assert signed_in("metrics", flag, REPO).out.startswith(f"All products of {REPO} · ")
        assert f'"{REPO}"' in in_ci("merge-announce", "--dry-run", *head, flag, REPO).out


def test_rows_beyond_the_limit_are_announced_with_the_way_to_them(signed_in: Command) -> None:
    out = signed_in("metrics", "--limit", "1").out

    assert "… 3 more: --limit 4" in out


def test_a_table_can_be_had_alone_and_whole(signed_in: Command) -> None:
    rows = list(
        csv.DictReader(
            io.StringIO(signed_in("metrics", "--table", "flakiest-tests", "-o", "csv").out)
        )
    )

    assert {row["testId"] for row in rows} >= {"i2c", "spi", "adc"}
    assert list(rows[0]) == [
        "repoKey",
        "suite",
        "testId",
        "boxes",
        "runReports",
        "attempts",
        "failedAttempts",
        "retryPasses",
        "flakyFailures",
        "flakeRate",
        "low",
        "high",
    ]


def test_csv_of_the_page_has_the_tiles_and_each_table_as_a_block(signed_in: Command) -> None:
    blocks = signed_in("metrics", "-o", "csv").out.split("\n\n")

    assert [block.splitlines()[0].split(",")[0] for block in blocks] == ["tile", *["table"] * 5]
    assert blocks[2].splitlines()[1].startswith("real-bugs,")
    assert blocks[5].splitlines()[1].startswith("pending,")


def test_tiles_in_csv_are_numbers_in_columns_of_their_own(signed_in: Command) -> None:
    block = signed_in("metrics", "-o", "csv").out.split("\n\n")[0]
    tiles = json.loads(signed_in("trends", "--json").out)["tiles"]
    shares = {
        tile["tile"]: f"{100 * tile['now']['low']:.3f},{100 * tile['now']['high']:.3f}"
        for tile in tiles
        if tile["now"]["low"]
    }

    assert block.splitlines() == [
        "tile,part,total,benchOrHarness,ambiguous,dismissed,causes,low,high,lostBoard",
        "Merges checked on hardware,1,2,,,,,,,",
        "Real FW bugs caught,1,,1,0,0,1,,,0",
        "Flaky failures,1,,,,,,,,",
        f"Infra runs,1,7,,,,,{shares['infraRuns']},",
    ]


def test_the_way_to_what_is_pending_keeps_period_and_product(signed_in: Command) -> None:
    long_ago = ("--as-of", "2001-01-01T00:00:00Z", "--days", "7", "--repo", REPO)
    pending = f"hwci failures list --label pending --days 7 --repo-key {REPO} --as-of 2001-01-01"

    assert pending in " ".join(signed_in("metrics", *long_ago).out.split())
    assert pending in signed_in("metrics", *long_ago, "--table", "real-bugs").err


def test_one_table_in_json_is_a_list_and_the_help_says_so(signed_in: Command) -> None:
    assert isinstance(json.loads(signed_in("metrics", "--table", "real-bugs", "--json").out), list)
    for command in ("metrics", "orgs list", "keys list"):
        assert "a list of" in signed_in(*command.split(), "--help").out


def test_markdown_has_a_heading_and_a_table_for_each_list(signed_in: Command) -> None:
    out = signed_in("metrics", "-o", "md").out

    assert out.count("\n### ") == 5
    assert "| --- | --- |" in out
    assert "\\|x" in out  # a bar in a test's name does not make a column


def test_a_broken_test_is_distinguished_from_a_flaky_one(signed_in: Command) -> None:
    rows = {line.split()[0]: line for line in signed_in("metrics").out.splitlines() if "%" in line}

    assert rows["adc"].rstrip().endswith("broken")
    assert not rows["[red]can\\x1b[31m\\u202e|x"].rstrip().endswith("broken")
    out = signed_in("metrics").out
    assert "broken: it never passed in this period" in out
    assert "a failure is flaky only if the test also passed on the same commit and box" in out


def test_broken_tests_can_be_left_out_of_the_whole_table(signed_in: Command) -> None:
    whole = ("metrics", "--table", "flakiest-tests", "--hide-broken")
    code, out, err = signed_in(*whole, "--json")

    assert [row["testId"] for row in json.loads(out)] == ["spi", HOSTILE, "i2c"]
    assert (code, err) == (0, "1 broken test left out.\n")
    assert "--table flakiest-tests --hide-broken" in signed_in("metrics").out
    assert signed_in("metrics", "--hide-broken").code == 2
    assert signed_in("metrics", "--table", "real-bugs", "--hide-broken").code == 2


def test_suspects_are_a_table_with_intervals_and_words(signed_in: Command) -> None:
    table = ("metrics", "--table", "suspects")
    rows = json.loads(signed_in(*table, "--lower-bound", "--json").out)
    assert rows
    assert "not enough data" in signed_in(*table, "-o", "md").out
    lows = [row["low"] or 0 for row in rows]
    assert lows == sorted(lows, reverse=True)
    told = list(csv.DictReader(io.StringIO(signed_in(*table, "-o", "csv").out)))
    for words in ("answer", "text"):
        assert {row[words] for row in told} == {row[words] for row in rows}
    assert signed_in("metrics", "--lower-bound").code == 2


def test_flakiest_tests_by_the_lower_bound_are_the_same_rows_with_it(signed_in: Command) -> None:
    table = ("metrics", "--table", "flakiest-tests")
    rows = json.loads(signed_in(*table, "--lower-bound", "--json").out)
    plain = json.loads(signed_in(*table, "--json").out)
    out = signed_in(*table, "--lower-bound", "-o", "md").out

    def known(row: Any) -> Any:
        return {name: value for name, value in row.items() if name not in {"low", "high"}}

    assert sorted(map(str, plain)) == sorted(str(known(row)) for row in rows)
    lows = [row["low"] or 0 for row in rows]
    assert lows == sorted(lows, reverse=True)
    assert "| At least (95 %) |" in out
    assert "| not enough data |" in out
    assert "At least" not in signed_in(*table, "-o", "md").out


def test_each_flake_rate_stands_with_the_range_that_holds_it_in_the_order_of_the_api(
    signed_in: Command,
) -> None:
    table = ("metrics", "--table", "flakiest-tests")
    plain = [row["testId"] for row in json.loads(signed_in(*table, "--json").out)]
    ranked = json.loads(signed_in(*table, "--lower-bound", "--json").out)
    sure = {row["testId"]: row for row in ranked}

    for asked in (table, ("metrics",)):
        shown = signed_in(*asked, "-o", "md").out.split("| Flake rate (95 % within) |")[1]
        rates = re.findall(r"\S+ % \([^)]*\)", shown)
        assert rates[: len(plain)] == [rate(sure[test]) for test in plain]
    rows = [*csv.DictReader(io.StringIO(signed_in(*table, "-o", "csv").out))]
    assert [row["low"] for row in rows] == [low(sure[test]) for test in plain]


def rate(row: Any) -> str:
    told = (
        "not enough data" if row["low"] is None else f"{tenths(row['low'])}-{tenths(row['high'])}"
    )
    return f"{tenths(row['flakeRate'])} % ({told})"


def low(row: Any) -> str:
    return "" if row["low"] is None else f"{row['low']:.3f}"


def test_checked_merges_are_a_table_with_the_run_that_checked_each(signed_in: Command) -> None:
    whole = ("metrics", "--table", "checked-merges")
    (row,) = json.loads(signed_in(*whole, "--json").out)
    (cells,) = csv.DictReader(io.StringIO(signed_in(*whole, "-o", "csv").out))
    code, out, err = signed_in(*whole)

    assert (row["sha"], row["firstRun"]["sha"], row["firstRun"]["boxKey"]) == (B, B, BOX)
    run = row["firstRun"]["runRecordId"]
    assert json.loads(signed_in("runs", "show", run, "--json").out)["runId"] == 2
    assert (cells["sha"], cells["firstRun.runRecordId"], cells["firstRun.runId"]) == (B, run, "2")
    assert (code, err) == (0, "")
    for cell in (B[:12], run[:8], "2 (1)", BOX):
        assert cell in out
    assert f"| {BOX} |" in signed_in(*whole, "-o", "md").out
    assert signed_in(*whole, "--as-of", "2001-01-01T00:00:00Z").out == ""


@pytest.mark.parametrize(
    ("table", "run"),
    [
        ("real-bugs", "firstFailure"),
        ("other-failures", "firstFailure"),
        ("checked-merges", "firstRun"),
    ],
)
def test_csv_has_the_number_of_the_ci_where_json_has_it(
    signed_in: Command, server: RunningServer, table: str, run: str
) -> None:
    whole = ("metrics", "--table", table)
    page = signed_in(*whole, "--json").out.replace('"ciRun": null', '"ciRun": 4242')
    listed = f'{{"items": {page}, "total": 1, "page": 1, "limit": 100}}'.encode()
    with answering(Canned(200, listed)) as known:
        org = str(server.org_id)
        out = signed_in(*whole, "-o", "csv", HWCI_URL=known.url, HWCI_ORG=org).out

    assert [row[f"{run}.ciRun"] for row in csv.DictReader(io.StringIO(out))] == ["4242"]


def test_a_merge_of_no_product_is_shown_as_unassigned(cli: Command, tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        settings = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token}
        with Client(server.url, ci_key=server.ci_key) as client:
            for repo_key in ("acme/one", "acme/two"):
                changed = {"repo_key": repo_key, "suite": None}
                client.send(calls.announce_merge(merge(UNSEEN).model_copy(update=changed)))
        for form in ("table", "md"):
            every = cli("metrics", "-o", form, **settings).out
            of_one = cli("metrics", "-o", form, "--repo", "acme/one", **settings).out
            assert "acme/one (Unassigned)" in every
            assert "acme/one (Unassigned)" in of_one
            assert "acme/two" not in of_one


def test_a_table_of_merges_without_a_row_says_whether_any_was_announced(
    cli: Command, tmp_path: Path
) -> None:
    with running_in_thread(tmp_path) as server:
        settings = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token}

        def said(of: str) -> str:
            answer = cli("metrics", "--table", of, **settings)
            return " ".join((answer.out + answer.err).split())

        before = {said("unchecked-merges"), said("checked-merges")}
        with Client(server.url, ci_key=server.ci_key) as client:
            client.send(calls.announce_merge(merge(B)))
            missed = said("checked-merges")
            client.send(calls.report_run(report(1, B, {"i2c": "pass"})))
        checked = said("unchecked-merges")

    assert before == {"No merge was announced in this period (hwci merge-announce)."}
    assert missed == "No announced merge of the period ran on hardware."
    assert checked == "Every announced merge of the period ran on hardware."


def test_an_empty_period_says_what_to_do_next(signed_in: Command) -> None:
    out = signed_in("metrics", "--as-of", "2001-01-01T00:00:00Z", COLUMNS="40").out
    text = " ".join(out.replace("│", " ").split())

    assert "0 of 0" not in out
    assert "Merges checked on hardware No merge was announced in this period ╰" in text
    assert "Infra runs No run was reported in this period ╰" in text
    assert "on hardware (0) No merge was announced in this period (hwci merge-announce)." in text
    assert "(hwci report-run)" in text


@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
def test_a_hostile_test_name_never_reaches_the_terminal_raw(signed_in: Command, form: str) -> None:
    out = signed_in("metrics", "--output", form).out

    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "[red]can" in out.replace("\\", "")


def test_json_holds_the_hostile_name_exactly(signed_in: Command) -> None:
    page = json.loads(signed_in("metrics", "--json").out)

    assert HOSTILE in {row["testId"] for row in page["flakiestTests"]["items"]}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--product", "acme"),
        ("--product", ":x"),
        ("--product", PRODUCT, "--repo", "other"),
        ("--as-of", "yesterday"),
        ("--days", "0"),
        ("--days", "3651"),
        ("--limit", "101"),
        ("--json", "--output", "csv"),
        ("--table", "tiles"),
    ],
)
def test_wrong_usage_exits_with_2_and_writes_no_data(
    signed_in: Command, arguments: tuple[str, ...]
) -> None:
    code, out, err = signed_in("metrics", *arguments)

    assert (code, out) == (2, "")
    assert err
