# SPDX-License-Identifier: Apache-2.0
"""`hwci merges`: why each merge is unchecked, and the runs that would check them."""

import csv
import io
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwci.analysis.run_command import TO_FILL_IN
from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.support.running import RunningServer, running_in_thread
from tests.support.scene import PRODUCT, REPO, START, SUITE, UNSEEN, E, merge, play, report

HOSTILE_BRANCH = "it's $(touch /tmp/x)"
UNKNOWN = "9" * 40
JOB = "https://ci.example.org/job/9"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The server after the reports of `scene.py`, a run that reaches the hardware again, and merges
    of each kind: `e`, whose run 5 had tests of its product, is checked.
    """
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        play(running)
        with Client(running.url, ci_key=running.ci_key) as client:
            client.send(calls.report_run(report(8, E, {"i2c": "pass"})))
            newest = report(9, "8" * 40, {}).model_copy(update={"ci_url": JOB})
            client.send(calls.report_run(newest))
            for sha, suite in ((E, SUITE), ("8" * 40, SUITE), (UNKNOWN, "boot")):
                one = merge(sha).model_copy(update={"suite": suite, "branch": HOSTILE_BRANCH})
                client.send(calls.announce_merge(one))
        yield running


def test_each_unchecked_merge_is_listed_with_its_cause(signed_in: Command) -> None:
    code, out, err = signed_in("merges", "unchecked")

    assert code == 0
    assert err.splitlines() == [
        "No run on it was reported: let CI start a run on each merge, or run it",
        "A run on it ran no test: mend the job or its result files, then run it again",
        "The run that would check one: hwci merges plan --sha COMMIT",
    ]
    lines = out.splitlines()
    told = "No run on it was reported"
    assert any(UNSEEN[:12] in line and told in line for line in lines)
    (empty,) = (line for line in lines if "888888888888" in line)
    assert "A run on it ran no test" in empty
    assert "9 (1) on bench-1" in empty


def test_a_spreadsheet_has_the_cause_and_the_run(signed_in: Command) -> None:
    whole = signed_in("merges", "unchecked", "--all", "-o", "csv", "--product", PRODUCT).out
    rows = {row["sha"]: row for row in csv.DictReader(io.StringIO(whole))}

    assert [*rows] == ["8" * 40, UNSEEN]
    assert (rows["8" * 40]["cause"], rows["8" * 40]["run.runId"]) == ("no_tests", "9")
    assert (rows[UNSEEN]["cause"], rows[UNSEEN]["run.runId"]) == ("nothing_ran", "")


def test_the_list_is_that_of_the_page(signed_in: Command) -> None:
    page = json.loads(signed_in("metrics", "--json").out)["uncheckedMerges"]
    listed = json.loads(signed_in("merges", "unchecked", "--json").out)

    assert listed["total"] == page["total"] == 3
    known = page["items"][0].keys()
    assert [{key: one[key] for key in known} for one in listed["items"]] == page["items"]


def test_a_plan_is_a_script_with_a_command_for_each_run(signed_in: Command) -> None:
    code, out, err = signed_in("merges", "plan")

    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == [
        "# 3 merges not checked. 2 runs, about 10 min of board time.",
        f"# {TO_FILL_IN}.",
    ]
    assert f"# On bench-1: {PRODUCT}, 5 min a run (median of 7 runs)" in lines
    assert lines[-1] == (
        f"# 1 merge of {REPO}:boot without a run here. Not enough data: no run of it reached the "
        "hardware with a test in the period."
    )
    commands = [line for line in lines if line and not line.startswith("#")]
    assert [shlex.split(line)[3] for line in commands] == ["8" * 40, UNSEEN]


def test_a_plan_names_the_ci_job_that_has_what_is_to_be_filled_in(signed_in: Command) -> None:
    found = json.loads(signed_in("merges", "plan", "--json").out)

    assert found["ciJobs"] == [{"repoKey": REPO, "suite": SUITE, "ciUrl": JOB}]
    assert f"# Both are in the CI job of {PRODUCT}: {JOB}" in signed_in("merges", "plan").out


def test_a_pasted_command_checks_its_merge(
    signed_in: Command, in_ci: Command, server: RunningServer, tmp_path: Path
) -> None:
    (command,) = (
        line for line in signed_in("merges", "plan").out.splitlines() if "8888 &&" in line
    )
    words = shlex.split(command.partition(" && hwci ")[2])
    assert words[words.index("--branch") + 1] == HOSTILE_BRANCH
    tests = tmp_path / "tests.py"
    xml = '<testsuite><testcase name="boot" classname="hil" time="1"/></testsuite>'
    tests.write_text(f"open('out.xml', 'w').write('{xml}')")
    at = words.index("FILE")

    done = in_ci(*words[:at], "out.xml", "--", sys.executable, str(tests))

    assert done.code == 0, done
    with Client(server.url, token=server.token) as client:
        checked = client.send(calls.checked_merges(server.org_id)).items
    assert "8" * 40 in [one.sha for one in checked]


def test_a_plan_for_one_commit_has_its_runs_alone(signed_in: Command) -> None:
    whole = signed_in("merges", "plan").out.splitlines()
    own = signed_in("merges", "plan", "--sha", UNSEEN[:8]).out.splitlines()

    (command,) = (line for line in own if line and not line.startswith("#"))
    assert command in whole
    assert UNSEEN in command
    assert own[0].startswith("# 1 merge not checked. 1 run, about ")
    assert signed_in("merges", "plan", "--sha", "").code == 2
    assert "hexadecimal digits of a commit" in signed_in("merges", "plan", "--sha", "main").err


def test_a_period_without_an_unchecked_merge_plans_nothing(signed_in: Command) -> None:
    before = START.replace(year=START.year - 1).isoformat()

    assert signed_in("merges", "plan", "--as-of", before).out.splitlines() == [
        "# No merge of the period is unchecked, or none was announced (hwci merge-announce)."
    ]


def test_all_merges_are_listed_with_the_box_that_checked_each_or_why_none_did(
    signed_in: Command,
) -> None:
    rows = [*csv.DictReader(io.StringIO(signed_in("merges", "list", "--all", "-o", "csv").out))]
    unchecked = [row for row in rows if row["checked"] == "false"]

    assert [row["mergedAt"] for row in rows] == sorted(
        (row["mergedAt"] for row in rows), reverse=True
    )
    assert all(row["causeText"] for row in unchecked)
    assert all(row["boxes"] and not row["causeText"] for row in rows if row not in unchecked)
    assert 0 < len(unchecked) < len(rows)


def test_a_page_of_merges_is_of_those_that_were_asked_for(signed_in: Command) -> None:
    asked = ("merges", "list", "--branch", HOSTILE_BRANCH, "--limit", "2")
    page = json.loads(signed_in(*asked, "--json").out)

    assert (page["total"], page["limit"], len(page["items"])) == (3, 2, 2)
    assert {row["branch"] for row in page["items"]} == {HOSTILE_BRANCH}
    assert len(json.loads(signed_in(*asked[:-2], "--sha", "8888", "--all", "--json").out)) == 1
