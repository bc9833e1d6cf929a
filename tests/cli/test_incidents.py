# SPDX-License-Identifier: Apache-2.0
"""`hwci incidents`: failures with one cause as one row."""

import csv
import io
import json
from uuid import UUID

import pytest

from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.support.running import RunningServer
from tests.support.scene import HOSTILE, A, B, C, D, E, report

pytestmark = pytest.mark.usefixtures("busy_server")


def test_failures_with_one_cause_are_one_line(signed_in: Command) -> None:
    code, out, err = signed_in("incidents", "list", COLUMNS="240")

    assert code == 0
    again = f"Test commit {E[:12]} on bench-1 again: if it passes there, it is a flake"
    assert err.splitlines() == [f"adc (only bench-1 runs it): {again}"]
    (i2c,) = (line for line in out.splitlines() if " i2c " in line)
    assert "resolved" in i2c
    assert f"{B[:12]} Change drivers/i2c.c" in i2c
    assert "not tried again" in i2c
    assert "Tried again" in out


def test_the_boxes_that_pass_on_the_same_commits_stand_beside_those_that_fail(
    signed_in: Command, server: RunningServer
) -> None:
    with Client(server.url, ci_key=server.ci_key) as client:
        client.send(calls.report_run(report(20, B, {"rtc": "fail"})))
        passes = report(21, B, {"rtc": "pass"}).model_copy(update={"box_key": "bench-9"})
        client.send(calls.report_run(passes))

    _, out, err = signed_in("incidents", "list", "--label", "pending", COLUMNS="300")

    (rtc,) = (line for line in out.splitlines() if " rtc " in line)
    assert "bench-1, passes on bench-9" in rtc
    told = f"rtc: Test commit {B[:12]} on bench-1 again: if it passes there, it is a flake"
    assert told in err.splitlines()


def test_a_flake_is_no_label_of_an_incident(signed_in: Command) -> None:
    code, out, err = signed_in("incidents", "list", "--label", "flake")

    assert (code, out) == (2, "")
    assert "'flake' is not one of 'resolved', 'pending'" in err
    assert "flake|" not in signed_in("incidents", "list", "--help", COLUMNS="200").out


def test_a_spreadsheet_has_the_commit_that_began_it_and_the_fix(signed_in: Command) -> None:
    whole = signed_in("incidents", "list", "--label", "resolved", "--all", "-o", "csv").out
    rows = list(csv.DictReader(io.StringIO(whole)))

    assert {(row["suspects.from"], row["fixSha"], row["failuresTotal"]) for row in rows} == {
        (B, C, "1"),
        (B, D, "1"),
    }


def test_each_failure_of_the_list_that_is_no_flake_is_in_one_incident(signed_in: Command) -> None:
    listed = json.loads(signed_in("failures", "list", "--all", "--json").out)
    incidents = json.loads(signed_in("incidents", "list", "--all", "--json").out)

    groups = sorted({one["groupId"] for one in listed if one["label"] != "flake"})
    assert sorted(failure["id"] for one in incidents for failure in one["failures"]) == groups
    assert HOSTILE not in {test for one in incidents for test in one["tests"]}


def test_one_review_is_made_for_each_failure_of_an_incident(
    signed_in: Command, server: RunningServer
) -> None:
    with Client(server.url, ci_key=server.ci_key) as client:
        client.send(calls.report_run(report(20, A, {"uart": "pass", "can": "pass"})))
        client.send(calls.report_run(report(21, B, {"uart": "fail", "can": "fail"})))
        client.send(calls.report_run(report(22, C, {"uart": "pass", "can": "pass"})))
    listed = json.loads(signed_in("incidents", "list", "--all", "--json").out)
    (incident,) = (one for one in listed if "uart" in one["tests"])
    assert incident["tests"] == ["can", "i2c", "uart"]
    members = {one["id"] for one in incident["failures"]}

    def dismissed() -> set[str]:
        page = json.loads(signed_in("metrics", "--json").out)
        rows = page["otherFailures"]["items"]
        return {row["id"] for row in rows if row["class"] == "dismissed"}

    first = signed_in("incidents", "dismiss", incident["id"][:8], "--note", "loose cable")
    assert (first.code, first.out.strip()) == (0, "3 of 3 failures dismissed.")
    assert dismissed() == members

    again = signed_in("incidents", "dismiss", incident["id"])
    assert again.out.strip() == "0 of 3 failures dismissed."
    assert "can on bench-1 stays: " in again.err

    reset = signed_in("incidents", "reset", incident["id"])
    assert reset.out.strip() == "3 of 3 failures reset."
    assert dismissed() == set()


def test_why_an_incident_suspects_others_than_one_of_its_failures_stands_below(
    signed_in: Command, server: RunningServer
) -> None:
    with Client(server.url, ci_key=server.ci_key) as client:
        for number, sha, outcome in ((24, B, "fail"), (25, C, "fail"), (26, D, "pass")):
            sent = report(number, sha, {"dma": outcome})
            box = "bench-9" if sha == C else "bench-1"
            client.send(calls.report_run(sent.model_copy(update={"box_key": box})))
        passes = report(27, D, {"dma": "pass"}).model_copy(update={"box_key": "bench-9"})
        client.send(calls.report_run(passes))

    _, _, err = signed_in("incidents", "list", "--label", "resolved", COLUMNS="300")

    before = f"bench-1 failed on {B[:12]} before that"
    assert f"dma, spi: bench-9 alone failed first on {C[:12]}; {before}" in err.splitlines()


def test_an_incident_that_is_not_of_the_period_is_named_with_the_way_to_it(
    signed_in: Command,
) -> None:
    answer = signed_in("incidents", "confirm", str(UUID(int=7)))

    assert answer.code == 1
    assert "hwci incidents list shows them" in answer.err
