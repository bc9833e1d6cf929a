# SPDX-License-Identifier: Apache-2.0
"""`--branch`: flaky tests, incidents and boxes by the runs of some branches."""

import csv
import io
import json

import pytest

from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.support.running import RunningServer
from tests.support.scene import A, B, C, merge, report


@pytest.fixture
def command(signed_in: Command, server: RunningServer) -> Command:
    """A flake and a bug of `topic` on a box of its own; `main`, with a merge, has a bug."""
    with Client(server.url, ci_key=server.ci_key) as ci:
        topic = {"branch": "topic", "box_key": "rig-2"}
        for number, (sha, outcome, where) in enumerate(
            [
                (A, {"i2c": "pass", "spi": "fail"}, {}),
                (B, {"i2c": "fail", "spi": "pass"}, topic),
                (B, {"i2c": "pass", "spi": "pass"}, topic),
                (C, {"uart": "fail"}, topic),
            ]
        ):
            body = report(number, sha, outcome).model_copy(update=where)
            ci.send(calls.report_run(body))
        ci.send(calls.announce_merge(merge(A)))
    return signed_in


def names(command: Command, *words: str) -> set[str]:
    code, out, err = command(*words, "--output", "csv")
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out)))
    return {row.get("testId") or row.get("tests") or row["boxKey"] for row in rows}


LISTS = [
    (("metrics", "--table", "flakiest-tests"), {"spi"}, {"i2c", "uart"}),
    (("metrics", "--table", "flakiest-tests", "--lower-bound"), {"spi"}, {"i2c", "uart"}),
    (("metrics", "--table", "suspects"), {"spi"}, {"i2c", "uart"}),
    (("incidents", "list"), {"spi"}, {"uart"}),
]


def test_each_list_has_the_default_branch_or_all_others(command: Command) -> None:
    for words, default, others in LISTS:
        assert names(command, *words) == default | others
        assert names(command, *words, "--branch", "default") == default
        assert names(command, *words, "--branch", "main") == default
        for choice in ("others", "topic", "t*"):
            assert names(command, *words, "--branch", choice) == others
    code, out, _ = command("boxes", "health", "--branch", "default", "--json")
    assert code == 0
    assert [box["boxKey"] for box in json.loads(out)["boxes"]] == ["bench-1"]
    code, out, _ = command("boxes", "show", "rig-2", "--branch", "default", "--json")
    assert (code, json.loads(out)["box"]) == (0, None)


def test_broken_tests_that_are_left_out_are_those_of_the_branches(command: Command) -> None:
    words = ("metrics", "--table", "flakiest-tests", "--hide-broken", "--branch")
    _, _, err = command(*words, "default")
    assert "1 broken test left out" in err
    assert names(command, *words, "others") == {"i2c"}


def test_a_choice_that_leaves_nothing_says_so_and_is_no_unknown_name(command: Command) -> None:
    for words in (("incidents", "list"), ("metrics", "--table", "suspects")):
        _, out, err = command(*words, "--branch", "x*")
        assert "fits --branch x*" in " ".join((out + err).split())
        _, out, err = command(*words, "--branch", "gone")
        assert "is of branch gone" in " ".join((out + err).split())


def test_two_stars_are_refused_with_what_is_wrong(command: Command) -> None:
    code, _, err = command("incidents", "list", "--branch", "a**")

    assert code != 0
    assert "one *" in err
