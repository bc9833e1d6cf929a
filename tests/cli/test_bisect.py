# SPDX-License-Identifier: Apache-2.0
"""`hwci bisect`: the range and its chances, and the runs to paste, up to the commit."""

import csv
import io
import json
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from hwci.client import Client, calls
from hwci.wire.reports import RunReport
from tests.cli.conftest import Command
from tests.support.running import RunningServer, running_in_thread
from tests.support.scene import PRODUCT, START, report

GOOD, *COMMITS = (digit * 40 for digit in "0123456789")
BROKEN = COMMITS[5]
BRANCH = "it's $(touch /tmp/x)"
ENDS = ("--product", PRODUCT, "--good", GOOD[:8], "--bad", COMMITS[-1][:8])


def listed(number: int, sha: str, outcomes: dict[str, str], since: Sequence[str]) -> RunReport:
    """A run whose changes are these commits."""
    commits = [{"sha": one, "subject": f"Change {one[0]}", "files": ["a.c"]} for one in since]
    body = report(number, sha, outcomes).model_dump(mode="json")
    body |= {"changes": {"base_sha": GOOD, "commits": commits}, "branch": BRANCH}
    return RunReport.model_validate_json(json.dumps(body))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with a report of a good run, and one ten commits later that failed."""
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        with Client(running.url, ci_key=running.ci_key) as client:
            client.send(calls.report_run(report(1, GOOD, {"hil.boot": "pass"})))
            failed = {"hil.boot": "fail"}
            client.send(calls.report_run(listed(2, COMMITS[-1], failed, COMMITS)))
        yield running


def test_start_prints_the_range_and_a_run_to_paste(signed_in: Command) -> None:
    code, out, err = signed_in("bisect", "start", "hil.boot", *ENDS)

    assert code == 0
    assert err.strip() == f"Then: hwci bisect next hil.boot {shlex.join(ENDS)}"
    lines = out.splitlines()
    assert lines[:2] == [
        "# hil.boot began to fail in one of 9 commits",
        f"# after {GOOD[:12]}, up to {COMMITS[-1][:12]}.",
    ]
    assert "# Run next on bench-1 (about 5 min, the median of 2 runs):" in lines
    (command,) = (line for line in lines if line and not line.startswith("#"))
    words = shlex.split(command)
    assert words[3] in COMMITS
    assert words[words.index("--branch") + 1] == BRANCH


def test_the_command_to_go_on_repeats_where_it_asked(
    signed_in: Command, server: RunningServer
) -> None:
    _, _, err = signed_in("bisect", "start", "hil.boot", *ENDS, "--days", "9", "--url", server.url)

    assert "--url" not in err, "the sign-in leads there anyway"
    assert err.rstrip().endswith("--days 9")


def test_pasted_runs_lead_to_the_commit(signed_in: Command, in_ci: Command, tmp_path: Path) -> None:
    tests = tmp_path / "tests.py"
    tests.write_text(
        "import sys\n"
        f"failure = '<failure>device</failure>' if sys.argv[1] >= {BROKEN!r} else ''\n"
        "open('out.xml', 'w').write('<testsuite><testcase name=\"boot\" classname=\"hil\"'"
        " f' time=\"1\">{failure}</testcase></testsuite>')\n"
    )
    for number in range(20):
        out = signed_in("bisect", "next", "hil.boot", *ENDS).out
        if "Run next" not in out:
            break
        (command,) = (line for line in out.splitlines() if line.startswith("git "))
        words = shlex.split(command.partition(" && hwci ")[2])
        run = [*words[: words.index("FILE")], "out.xml", "--run-id", f"{100 + number}"]
        sha = words[words.index("--sha") + 1]
        done = in_ci(*run, "--", sys.executable, str(tests), sha)
        assert done.code == 0, done

    assert re.match(
        rf"# It began to fail in {BROKEN[:12]} Change 6 "
        r"\(9\d % sure\): \d+ of \d+ runs on these commits failed, and they alone are weighed\.\n",
        out,
    )
    whole = signed_in("bisect", "status", "hil.boot", *ENDS, "-o", "csv").out
    rows = {row["sha"]: row for row in csv.DictReader(io.StringIO(whole))}
    assert [*rows] == [GOOD, *COMMITS]
    assert float(rows[BROKEN]["chance"]) >= 0.95
    assert int(rows[BROKEN]["failed"]) > 0


def test_status_has_each_commit_with_its_chance_in_json(signed_in: Command) -> None:
    before = (START + timedelta(hours=12)).isoformat()

    code, out, err = signed_in("bisect", "status", "hil.boot", *ENDS, "--as-of", before)

    assert code == 0
    assert "(good)" in out.splitlines()[2]
    assert len(out.splitlines()) == 2 + 10
    assert f"one of 9 commits from {COMMITS[0][:12]} to" in err
    whole = signed_in("bisect", "status", "hil.boot", *ENDS, "--as-of", before, "--json").out
    found = json.loads(whole)["found"]
    assert sum(one["chance"] for one in found["commits"]) == pytest.approx(1)
    assert [one["boxKey"] for one in found["nextRuns"]] == ["bench-1"]
    assert found["bracket"]["commits"] == 9


UNKNOWN = "404 Not Found: Nothing that was reported to this organization names the"


@pytest.mark.parametrize(
    ("test", "flags", "said"),
    [
        ("hil.flies", ENDS, f"{UNKNOWN} test 'hil.flies' of"),
        ("hil.boot", (*ENDS[:-1], "abcdef0"), "No run of the period tested the good or the bad"),
        ("hil.boot", (*ENDS[:-1], GOOD), "No recorded changes lead from"),
        ("hil.boot", (*ENDS, "--box", "bench-9"), f"{UNKNOWN} box 'bench-9'; did you"),
    ],
)
def test_what_cannot_be_known_is_said_in_one_line(
    signed_in: Command, test: str, flags: Sequence[str], said: str
) -> None:
    for command in ("start", "next", "status"):
        code, out, err = signed_in("bisect", command, test, *flags)

        assert (code, out) == (1, "")
        assert f"cause: {said}" in err
        assert "fix: " in err


def test_neither_commit_is_needed_but_never_one_alone(signed_in: Command) -> None:
    product = ENDS[:2]
    for command in ("start", "next", "status"):
        code, out, err = signed_in("bisect", command, "hil.boot", *product)
        assert (code, out) == (1, "")
        assert "cause: Not enough data to say between which commits it began to fail" in err

        code, out, err = signed_in("bisect", command, "hil.boot", *ENDS[:4])
        assert (code, out) == (2, "")
        assert "one of --good and --bad is given without the other" in err


def test_a_commit_is_digits(signed_in: Command) -> None:
    code, out, err = signed_in("bisect", "next", "hil.boot", *ENDS[:-1], "main")

    assert (code, out) == (2, "")
    assert "bad" in err


def test_runs_at_once_are_printed_each_with_its_box(
    signed_in: Command, server: RunningServer
) -> None:
    body = report(3, GOOD, {"hil.boot": "pass"}).model_dump(mode="json") | {"box_key": "bench-2"}
    with Client(server.url, ci_key=server.ci_key) as client:
        client.send(calls.report_run(RunReport.model_validate_json(json.dumps(body))))

    before = (START + timedelta(hours=12)).isoformat()
    flags = (*ENDS, "--as-of", before, "--boxes", "4")
    code, out, err = signed_in("bisect", "next", "hil.boot", *flags)

    assert code == 0
    commands = [shlex.split(line) for line in out.splitlines() if line.startswith("git ")]
    assert [one[one.index("--box") + 1] for one in commands] == ["bench-1", "bench-2"]
    lines = out.splitlines()
    at = lines.index("# At the same time on bench-2 (about 5 min, the median of 1 run):")
    why = "which may be chance: a failure there would tell much."
    assert lines[at + 2] == f"# The test passed in 1 run on this box, {why}"
    assert out.count("may be chance") == 1
    assert err.rstrip().endswith("--boxes 4")
