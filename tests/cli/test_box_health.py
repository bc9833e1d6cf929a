# SPDX-License-Identifier: Apache-2.0
"""`hwci boxes health`: boxes compared, from reports to the sentence (contract, "Answers beside the
rules").
"""

import json
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.cli.two_boxes import SAYS, with_reports
from tests.support.asking import ask, bearer
from tests.support.running import RunningServer

__all__ = ["with_reports"]  # a fixture


def answer(server: RunningServer, **query: Any) -> Any:
    words = "&".join(f"{name}={value}" for name, value in query.items())
    path = f"/api/orgs/{server.org_id}/ci-analysis/boxes?{words}"
    return ask(server.url, "GET", path, bearer(server.token))


@pytest.mark.usefixtures("with_reports")
def test_the_worse_box_is_named_first_in_words_with_its_counts(signed_in: Command) -> None:
    code, out, _ = signed_in("boxes", "health", "--output", "md")
    rows = [line for line in out.splitlines() if line.startswith("| bench-")]

    assert code == 0
    assert rows[0].startswith(f"| bench-2 | {SAYS} | 0 of 12 | 0 of 12 |")
    even = "over all tests: 0 of 48 against 12 of 48 on the same commits"
    assert f"no sign that it is worse than bench-2 ({even})" in rows[1]
    against = "12 of 12 runs against 0 of 12 elsewhere on the same commits"
    assert f"fails on bench-2 only ({against})" in out


@pytest.mark.usefixtures("with_reports")
def test_the_terminal_has_the_tests_below_the_boxes(signed_in: Command) -> None:
    code, out, _ = signed_in("boxes", "health", COLUMNS="200")

    assert code == 0
    assert (
        out.index(SAYS) < out.index("Tests that fail more on one box") < out.index("bench-2 only")
    )


@pytest.mark.usefixtures("with_reports")
def test_a_program_reads_the_same_figures_as_json_and_csv(signed_in: Command) -> None:
    [worst, _] = json.loads(signed_in("boxes", "health", "--json").out)["boxes"]
    header, row = signed_in("boxes", "health", "--output", "csv").out.splitlines()[:2]
    exact = dict(zip(header.split(","), row.split(","), strict=True))

    assert (worst["boxKey"], exact["boxKey"]) == ("bench-2", "bench-2")
    assert worst["comparison"]["named"]
    assert float(exact["comparison.oddsRatio"]) == worst["comparison"]["oddsRatio"]
    assert worst["comparison"]["low"] > 1.5
    assert worst["comparison"]["chance"] < 0.01
    for one in ("chance", "falseDiscovery"):
        assert float(exact[f"comparison.{one}"]) == pytest.approx(worst["comparison"][one], 0.005)


@pytest.mark.usefixtures("with_reports")
def test_a_period_without_runs_says_so(signed_in: Command) -> None:
    code, out, err = signed_in("boxes", "health", "--as-of", "2001-01-01T00:00:00Z")

    assert (code, out) == (0, "")
    assert "No box reported in this period." in err


def test_a_product_that_nobody_knows_is_not_found(with_reports: RunningServer) -> None:
    assert answer(with_reports, repoKey="no/where", suite="hil").status == 404


@pytest.mark.usefixtures("with_reports")
def test_a_note_splits_what_is_said_of_its_box_until_it_is_removed(signed_in: Command) -> None:
    noted = signed_in("boxes", "note", "bench-2", "new cable", "--at", "2026-03-01T12:00:00Z")
    assert (noted.code, noted.out) == (0, "")
    assert "Noted of bench-2" in noted.err
    later = json.loads(signed_in("boxes", "note", "bench-1", "new board", "--json").out)

    rows = signed_in("boxes", "notes", "bench-2", "--output", "md").out
    assert "new cable" in rows
    assert "new board" not in rows
    said = signed_in("boxes", "health", "--output", "md").out
    assert said.count("; it has not run since") == 1  # the other note is older than the period

    for note in (later["id"][:8], json.loads(signed_in("boxes", "notes", "--json").out)[1]["id"]):
        assert signed_in("boxes", "remove-note", note).code == 0
    assert signed_in("boxes", "notes", "--output", "csv").out.count("\n") == 1
    assert "note of" not in signed_in("boxes", "health", "--output", "md").out


@pytest.mark.usefixtures("with_reports")
def test_a_note_of_an_unknown_box_or_at_no_time_is_one_clear_line(signed_in: Command) -> None:
    for words in (("bench-22", "new cable"), ("bench-2", "new cable", "--at", "yesterday")):
        code, out, err = signed_in("boxes", "note", *words)
        assert code != 0
        assert not out
        assert words[-1] in err or "bench-2" in err
