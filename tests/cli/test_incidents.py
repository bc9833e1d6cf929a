# SPDX-License-Identifier: Apache-2.0
import csv
import io
import json

import pytest

from tests.cli.conftest import Command
from tests.support.scene import HOSTILE, B, C, D

pytestmark = pytest.mark.usefixtures("busy_server")


def test_failures_with_one_cause_are_one_line(signed_in: Command) -> None:
    code, out, err = signed_in("incidents", "list", COLUMNS="240")

    assert (code, err) == (0, "")
    (i2c,) = (line for line in out.splitlines() if " i2c " in line)
    assert "resolved" in i2c
    assert f"{B[:12]} Change drivers/i2c.c" in i2c
    assert "not run again" in i2c


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
