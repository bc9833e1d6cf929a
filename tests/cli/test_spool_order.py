# SPDX-License-Identifier: Apache-2.0
"""A pending report never overwrites a later one. The tests run the real command, and then read what
the server has.
"""

import json
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from hwci.client import Client, calls
from hwci.client.store import BenchStore, PendingReport
from hwci.wire.reports import RunReport
from tests.support.answering import Answer, answering, unused_url
from tests.support.commands import hwci, hwci_beside
from tests.support.running import RunningServer
from tests.support.scene import report

WRONG_KEY = "svc_" + "0" * 64
REFUSED = b'{"statusCode": 404, "error": "Not Found", "message": "No"}'


@dataclass(frozen=True)
class Bench:
    """A bench with a folder of its own, and a server."""

    folder: Path
    server: RunningServer

    def variables(self, **others: str) -> dict[str, str]:
        own = {
            "XDG_STATE_HOME": str(self.folder / "state"),
            "HWCI_URL": self.server.url,
            "HWCI_CI_KEY": self.server.ci_key,
            "HWCI_DEADLINE": "0",
            **others,
        }
        return {name: value for name, value in own.items() if value}

    def start(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        """Start the command as a process, for what runs at the same time."""
        return hwci_beside(self.folder, *arguments, **self.variables(**variables))

    def run(self, *arguments: str, stdin: str = "", **variables: str) -> tuple[int, str, str]:
        done = hwci(self.folder, *arguments, stdin=stdin, **self.variables(**variables))
        return done.returncode, done.stdout, done.stderr

    def report(self, run_id: int, outcome: str, **variables: str) -> str:
        """Report a run with one test, and return its messages."""
        code, _, err = self.run(
            "report-run", "--body", "-", stdin=body(run_id, outcome), **variables
        )
        assert code == 0, err
        return err

    def change(self, statement: str, *values: object) -> None:
        """Change the store in a way that hwci never does."""
        store = self.folder / "state/hwci/spool/bench.sqlite3"
        with closing(sqlite3.connect(store)) as db, db:
            db.execute(statement, values)

    def listed(self) -> list[tuple[str, int]]:
        _, out, _ = self.run("spool", "list", "--json")
        return [(item["state"], item["runId"]) for item in json.loads(out)]

    def has(self, run_id: int) -> str:
        """Return the outcome that the server has of a run."""
        with Client(self.server.url, token=self.server.token) as client:
            runs = client.items(calls.list_runs(self.server.org_id))
            [found] = [run for run in runs if run.run_id == run_id]
            [test] = client.send(calls.get_run(self.server.org_id, found.id)).items
        return str(test.outcome)


def body(run_id: int, outcome: str) -> str:
    plain = report(1, "a" * 40, {"boot": outcome}).model_dump(mode="json", exclude_unset=True)
    return json.dumps({**plain, "run_id": run_id})


@pytest.fixture
def bench(tmp_path: Path, server: RunningServer) -> Bench:
    return Bench(tmp_path, server)


def refused_there(bench: Bench, run_id: int, outcome: str) -> None:
    """Leave a report as refused by this server: another refuses it, then the address is changed."""
    with answering(Answer(404, REFUSED)) as other:
        bench.report(run_id, outcome, HWCI_URL=other.url)
        bench.change("UPDATE reports SET address = ?", bench.server.url)


WAYS = {
    "another key": ["--any-key"],
    "another server": ["--any-server"],
    "refused": ["--refused"],
    "no server and another key": ["--any-key"],
}


@pytest.mark.parametrize("left", WAYS)
def test_no_flag_of_flush_sends_a_superseded_report(bench: Bench, left: str) -> None:
    run_id = 1_000 + list(WAYS).index(left)
    if left == "another key":
        bench.report(run_id, "fail", HWCI_CI_KEY=WRONG_KEY)
    elif left == "another server":
        bench.report(run_id, "fail", HWCI_URL=unused_url())
    elif left == "refused":
        refused_there(bench, run_id, "fail")
    else:
        bench.report(run_id, "fail", HWCI_URL="", HWCI_CI_KEY=WRONG_KEY)
    bench.report(run_id, "pass")

    for way in (WAYS[left], ["--any-key", "--any-server", "--refused"]):
        code, _, err = bench.run("spool", "flush", *way)
        assert code == 0, err
        assert "Sent 0 reports to " in err
    assert bench.has(run_id) == "pass"


def test_a_superseded_report_is_listed_and_can_be_sent_by_name(bench: Bench) -> None:
    bench.report(1, "fail", HWCI_CI_KEY=WRONG_KEY)
    said = bench.report(1, "pass")
    assert "note: 1 earlier report of bench-1, for another key, is set aside, so that " in said
    assert bench.listed() == [("superseded", 1)]
    result = bench.run("spool", "flush", "--any-key")[2]
    assert "1 report superseded by a later one and set aside: see hwci spool list; `hwci" in result
    assert bench.has(1) == "pass"

    [line] = [line for line in said.splitlines() if "set aside" in line]
    name = line.rstrip(".").rpartition("hwci spool flush ")[2]
    code, _, err = bench.run("spool", "flush", name)

    assert (code, bench.listed()) == (0, [])
    assert "Sent 1 report to " in err
    assert bench.has(1) == "fail"


def test_an_unknown_name_of_a_report_is_wrong_usage(bench: Bench) -> None:
    bench.report(2, "fail", HWCI_CI_KEY=WRONG_KEY)

    code, _, err = bench.run("spool", "flush", "nothing")

    assert (code, len(err.splitlines())) == (2, 3)
    assert bench.listed() == [("waiting", 2)]


def test_a_later_pending_report_supersedes_too(bench: Bench) -> None:
    bench.report(3, "fail", HWCI_CI_KEY=WRONG_KEY)
    bench.report(3, "pass", HWCI_CI_KEY="svc_" + "1" * 64)
    assert bench.listed() == [("waiting", 3), ("superseded", 3)]

    assert bench.run("spool", "flush", "--any-key")[0] == 0

    assert bench.has(3) == "pass"


def test_reports_of_one_run_for_two_servers_go_to_both(bench: Bench) -> None:
    with answering(Answer(503), Answer(204)) as other:
        bench.report(4, "fail", HWCI_URL=other.url)
        bench.report(4, "pass")
        assert bench.run("spool", "flush", HWCI_URL=other.url)[0] == 0
        assert len(other.received) == 2
    assert bench.has(4) == "pass"
    assert bench.listed() == []


def test_two_flushes_at_once_each_show_what_they_sent(bench: Bench) -> None:
    count = 60
    store = BenchStore(bench.folder / "state/hwci/spool")
    bodies = (body(run_id, "pass") for run_id in range(100, 100 + count))
    reports = [PendingReport.of(RunReport.model_validate_json(one)) for one in bodies]
    store.keep(reports, bench.server.url, bench.server.ci_key)

    flushes = [bench.start("spool", "flush", "--deadline", "60") for _ in range(3)]
    said = [flush.communicate(timeout=120)[1] for flush in flushes]

    sent = [
        int(line.split()[1]) for err in said for line in err.splitlines() if line[:5] == "Sent "
    ]
    assert len(sent) == len(flushes)
    assert sum(sent) == count
    assert [flush.returncode for flush in flushes] == [0, 0, 0]


def test_a_report_is_on_the_disk_before_git_or_the_ci_is_asked(bench: Bench) -> None:
    """The API of the CI does not answer; a job that is killed then leaves the report here."""
    (bench.folder / "r.xml").write_text('<testsuite><testcase name="boot"/></testsuite>')
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        named = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *named, *words], cwd=bench.folder, check=True)
    with answering(Answer(silent=True)) as api:
        ci = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": api.url,
            "GITHUB_TOKEN": "secret",
            "GITHUB_REPOSITORY": "acme/firmware",
            "GITHUB_RUN_ID": "77",
            "GITHUB_RUN_NUMBER": "7",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_WORKFLOW": "hil",
            "GITHUB_WORKFLOW_REF": "acme/firmware/.github/workflows/hil.yml@main",
            "GITHUB_EVENT_NAME": "push",
            "GITHUB_REF_NAME": "main",
            "GITHUB_JOB": "hil",
            "RUNNER_NAME": "bench-1",
        }
        flags = ("--box", "bench-1", "--conclusion", "success")
        sender = bench.start("report-run", "--junit", "r.xml", *flags, **ci)
        until = time.monotonic() + 60
        while not api.received and time.monotonic() < until:
            assert sender.poll() is None, sender.communicate()
            time.sleep(0.02)
        assert api.received
        sender.kill()
        sender.communicate()

    assert bench.listed() == [("waiting", 77)]
    assert bench.run("spool", "flush")[0] == 0
    assert bench.has(77) == "pass"


def test_a_store_of_a_newer_hwci_is_left_alone_and_the_report_goes_out(bench: Bench) -> None:
    bench.report(5, "pass", HWCI_URL=unused_url())
    bench.change("PRAGMA user_version = 9")
    file = bench.folder / "state/hwci/spool/bench.sqlite3"
    before = file.read_bytes()

    said = bench.report(6, "pass")
    code, _, err = bench.run("spool", "flush", "--any-server")

    newer = f"{file} was written by a newer hwci (version 9; this one knows 1)"
    [warning] = [line for line in said.splitlines() if line.startswith("warning: ")]
    assert warning.startswith(
        f"warning: bench-1 is not kept on the disk before it is sent: {newer}. Use the newer hwci "
    )
    assert bench.has(6) == "pass"
    assert (code, err.splitlines()[1]) == (1, f"cause: {newer}")
    assert file.read_bytes() == before
