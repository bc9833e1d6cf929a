# SPDX-License-Identifier: Apache-2.0
"""`hwci boxes show`: one box beside the others, from reports to its lines (contract, "Answers
beside the rules"). The reports are those of `two_boxes.py`.
"""

import json
import re
from datetime import datetime

import pytest

from hwci.cli.terminal import options
from tests.cli.conftest import Command
from tests.cli.two_boxes import SAYS, with_reports
from tests.support.asking import ask, ci_key
from tests.support.running import RunningServer, report

__all__ = ["with_reports"]  # a fixture


@pytest.mark.usefixtures("with_reports")
def test_its_shares_stand_beside_the_others_and_what_failed_on_it_alone_below(
    signed_in: Command,
) -> None:
    code, out, _ = signed_in("boxes", "show", "bench-2", COLUMNS="200")

    assert code == 0
    assert f"bench-2: {SAYS}" in out
    assert "Runs that reached the hardware: 12 of 12, 100.0 % (" in out
    of_same = "First attempts that failed, of the same tests on the same commits"
    same = "12 of 48, 25.0 %; others 0 of 48, 0.0 %"
    lines = [line.strip() for line in out.splitlines()]
    heading = "All runs, whatever they tested (this does not say which box is worse):"
    assert lines.index(heading) > lines.index(f"{of_same}: {same}")
    assert "Attempts that failed, retries included: 12 of 48, 25.0 % (" in out
    assert "; others 0 of 48, 0.0 % (0.0-" in out
    assert re.search(r"Last run: \d{4}-\d\d-\d\d \d\d:\d\d .* UTC\n", out)
    assert "Last clean run: none" in out
    assert out.splitlines()[-1].split() == ["i2c", "acme/firmware:hardware", "12", "of", "12"]

    signed_in("boxes", "note", "bench-2", "new cable")
    noted = signed_in("boxes", "show", "bench-2", COLUMNS="200").out
    assert f"{of_same}, before the note: {same}" in noted


@pytest.mark.usefixtures("with_reports")
def test_a_program_reads_the_same_figures_as_json_and_csv(signed_in: Command) -> None:
    end = "--as-of", f"{options.now().isoformat()}"
    found = json.loads(signed_in("boxes", "show", "bench-2", "--json", *end).out)
    header, row = signed_in("boxes", "show", "bench-2", "--output", "csv").out.splitlines()
    health = signed_in("boxes", "health", "--days", "90", "--json", *end).out
    listed = json.loads(health)["boxes"][0]

    exact = dict(zip(header.split(","), row.split(","), strict=True))
    assert exact == {name: str(value) for name, value in found["alone"][0].items()}
    assert found["box"] == listed


def test_a_run_that_lost_its_board_is_named_with_the_test_from_which_on(
    with_reports: RunningServer, signed_in: Command
) -> None:
    names = [f"t{number}" for number in range(8)]
    for number, box in enumerate(("bench-1", "bench-2") * 3):
        lost = number == 3  # bench-2
        tests = [
            {"id": one, "outcome": "fail" if lost and at > 1 else "pass", "attempts": 1}
            for at, one in enumerate(names)
        ]
        body = report(
            run_id=1000 + number,
            suite="lost",
            sha=f"{number // 2:07x}",
            box_key=box,
            tests=[one | {"duration_s": 1} for one in tests],
        )
        reply = ask(
            with_reports.url,
            "POST",
            "/api/ci/run-report",
            ci_key(with_reports.ci_key),
            json_body=body,
        )
        assert reply.status == 204, reply

    shown = ("boxes", "show", "bench-2", "--product", "acme/firmware:lost")
    said = "run 1003 at 0000001 failed all of its last 6 tests, from t2 on"
    assert f" ago) UTC: {said}" in signed_in(*shown, COLUMNS="200").out
    assert "Lost its board" not in signed_in("boxes", "show", "bench-1", *shown[3:]).out


def test_a_heartbeat_is_told_where_it_came_by_the_end_of_the_period(
    with_reports: RunningServer, signed_in: Command
) -> None:
    before = options.now()
    token = signed_in("boxes", "create", "bench-1").out.strip()
    body = {"installToken": token}
    key = ask(with_reports.url, "POST", "/api/boxes/install", json_body=body).json["apiKey"]
    assert ask(with_reports.url, "POST", "/api/box/heartbeat", ci_key(key)).status == 204

    def seen(*asked: str) -> str | None:
        shown = signed_in("boxes", "show", *asked, "--json").out
        at: str | None = json.loads(shown)["box"]["lastSeenAt"]
        return at

    assert datetime.fromisoformat(str(seen("bench-1"))) >= before
    assert seen("bench-2") is None
    assert seen("bench-1", "--as-of", before.isoformat()) is None
    shown = signed_in("boxes", "show", "bench-1").out
    assert re.search(r"Last heartbeat: \d{4}-\d\d-\d\d \d\d:\d\d \(just now\) UTC\n", shown)


@pytest.mark.usefixtures("with_reports")
def test_what_is_not_there_is_named_with_what_to_do(signed_in: Command) -> None:
    for asked, said in (
        (("bench-3",), "did you mean bench-"),
        (("x" * 1000,), "255 characters"),
        (("bench-2", "--product", "acme/firmware:hardwear"), "did you mean hardware?"),
    ):
        code, out, err = signed_in("boxes", "show", *asked)
        assert (code != 0, out) == (True, ""), asked
        assert said in err
    earlier = signed_in("boxes", "show", "bench-2", "--as-of", "2001-01-01T00:00:00Z")
    assert earlier.code == 0
    assert "No run of this period was on bench-2." in earlier.out
