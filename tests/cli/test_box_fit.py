# SPDX-License-Identifier: Apache-2.0
"""`hwci boxes fit`: whether a job may take a box, from reports to an exit code. The reports are
those of `two_boxes.py`: bench-2 fails a test in each run, an hour ago and later.
"""

import json

import pytest

from tests.cli.conftest import Command
from tests.cli.two_boxes import SAYS, with_reports
from tests.support.asking import ask, ci_key
from tests.support.running import RunningServer

__all__ = ["with_reports"]  # a fixture
pytestmark = pytest.mark.usefixtures("with_reports")


def test_a_box_with_clean_runs_is_fit_with_a_line_for_each_check(signed_in: Command) -> None:
    code, out, err = signed_in("boxes", "fit", "bench-1")

    assert (code, err) == (0, "")
    assert [line.partition(".")[0] for line in out.splitlines()] == [
        "bench-1 is fit",
        "  clean: ok",
        "  losses: ok",
        "  worse: ok",
        "  silent: too little to tell",
    ]
    assert signed_in("boxes", "fit", "bench-1", "--strict").code == 3


def test_a_box_that_is_worse_and_ran_nothing_clean_is_not_fit_and_says_why(
    signed_in: Command,
) -> None:
    code, out, _ = signed_in("boxes", "fit", "bench-2")

    assert code == 3
    assert "  clean: not ok. No run of the last 7 days was clean.\n" in out
    assert f"  worse: not ok. Against the others: {SAYS}.\n" in out
    assert "  worse: ok." in signed_in("boxes", "fit", "bench-2", "--worse").out


def test_a_scheduler_reads_the_answer(signed_in: Command) -> None:
    code, out, _ = signed_in("boxes", "fit", "bench-2", "--json", "--clean-within", "30d")
    found = json.loads(out)

    assert (code, found["boxKey"], found["fit"], found["strict"]) == (3, "bench-2", False, False)
    assert found["period"]["days"] == 30
    assert {row["check"]: row["met"] for row in found["checks"]} == {
        "clean": False,
        "losses": True,
        "worse": False,
        "silent": None,
    }


def test_a_box_that_was_seen_and_ran_nothing_is_fit_unless_strict(
    signed_in: Command, with_reports: RunningServer
) -> None:
    token = signed_in("boxes", "create", "bench-new").out.strip()
    body = {"installToken": token}
    key = ask(with_reports.url, "POST", "/api/boxes/install", json_body=body).json["apiKey"]
    assert ask(with_reports.url, "POST", "/api/box/heartbeat", ci_key(key)).status == 204

    new = signed_in("boxes", "fit", "bench-new")
    assert (new.code, new.out.count("It ran nothing in the last 7 days")) == (0, 4)
    assert signed_in("boxes", "fit", "bench-new", "--strict").code == 3


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        ("bench-3", 1, "did you mean bench-"),
        ("bench-1 --clean-within soon", 2, "'soon' is no length of time"),
        ("bench-1 --clean-within 24", 2, "--clean-within 90m, 24h or 7d"),
        ("bench-1 --silent-after -1h", 2, "is no length of time"),
        ("bench-1 --losses 101%", 2, "no share between 0 and 100"),
        ("bench-1 --losses nan", 2, "no share between 0 and 100"),
        ("bench-1 --product acme/firmware:hardwear", 1, "did you mean hardware?"),
    ],
)
def test_what_is_not_there_or_not_understood_is_one_clear_line(
    signed_in: Command, flags: str, code: int, said: str
) -> None:
    answer = signed_in("boxes", "fit", *flags.split())

    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
