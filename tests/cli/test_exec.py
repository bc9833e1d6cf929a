# SPDX-License-Identifier: Apache-2.0
"""The real command in a process of its own: signals and exit codes are the system's."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from hwci.ci.systems import SYSTEMS
from hwci.client import Client, calls
from tests.client.answering import Answer, AnsweringServer, answering, unused_url
from tests.server.running import RunningServer

ROOT = str(Path(__file__).parents[2])
KEY = "svc_" + "1" * 64
PASSES = '<testsuite><testcase classname="t" name="a" time="1"/></testsuite>'
FAILS = PASSES.replace("/></", "><failure/></testcase></")
JOB = {
    "HWCI_REPO_KEY": "acme/firmware",
    "HWCI_WORKFLOW": "hil",
    "HWCI_RUN_ID": "4711",
    "HWCI_BRANCH": "main",
    "HWCI_SHA": "abcdef0123456789abcdef0123456789abcdef01",
    "HWCI_BOX": "bench-1",
}


@pytest.fixture
def taking() -> Iterator[AnsweringServer]:
    """A server that takes what comes."""
    with answering(Answer(204)) as server:
        yield server


class Bench:
    """A machine on which `hwci exec` runs."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        gone = {system.variable for system in SYSTEMS}
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in gone and not name.startswith("HWCI_")
        }
        own = {name: str(folder / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
        told = {"HWCI_URL": url, "HWCI_CI_KEY": KEY, "HWCI_DEADLINE": "0", "PYTHONPATH": ROOT}
        self.environ = {**inherited, **own, **told, **JOB}

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "hwci", "exec", *arguments],
            cwd=self.folder,
            env=self.environ,
            text=True,
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                **options,
            },
        )

    def run(self, *arguments: str, **env: str) -> tuple[int, str, str]:
        self.environ = {**self.environ, **env}
        started = self.start(*arguments)
        out, err = started.communicate(timeout=60)
        return started.returncode, out, err


@pytest.fixture
def bench(tmp_path: Path, taking: AnsweringServer) -> Bench:
    return Bench(tmp_path, taking.url)


def reports(server: AnsweringServer) -> list[Mapping[str, Any]]:
    return [json.loads(one.body) for one in server.received if one.target == "/api/ci/run-report"]


def shell(script: str) -> list[str]:
    return ["--", "sh", "-c", script]


def test_the_tests_are_run_and_reported_with_their_times(
    bench: Bench, taking: AnsweringServer
) -> None:
    code, out, _ = bench.run("--junit", "*.xml", *shell(f"echo hi; echo '{PASSES}' > r.xml"))

    assert (code, out) == (0, "hi\n")
    [one] = reports(taking)
    assert (one["run_id"], one["box_key"], one["conclusion"]) == (4711, "bench-1", "success")
    assert [(test["id"], test["outcome"]) for test in one["tests"]] == [("t.a", "pass")]
    assert one["hello_ok"] is True
    started, ended = (datetime.fromisoformat(one[name]) for name in ("started_at", "ended_at"))
    assert started < ended


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", 137)])
def test_the_exit_code_of_the_tests_is_kept_whatever_the_server_says(
    bench: Bench, script: str, code: int
) -> None:
    assert bench.run("--strict", *shell(script), HWCI_URL=unused_url())[0] == code


def test_a_report_that_fails_fails_the_build_only_when_strict(bench: Bench) -> None:
    nowhere = unused_url()

    assert bench.run(*shell("true"), HWCI_URL=nowhere)[0] == 0
    assert bench.run("--strict", *shell("true"), HWCI_URL=nowhere)[0] == 5


def test_failed_tests_are_a_failure(bench: Bench, taking: AnsweringServer) -> None:
    code, _, _ = bench.run("--junit", "r.xml", *shell(f"echo '{FAILS}' > r.xml; exit 1"))

    assert code == 1
    [one] = reports(taking)
    assert one["conclusion"] == "failure"
    assert one["tests"][0]["outcome"] == "fail"


def test_results_from_before_the_run_are_not_of_it(bench: Bench, taking: AnsweringServer) -> None:
    (bench.folder / "r.xml").write_text(PASSES)

    bench.run("--junit", "r.xml", *shell("exit 1"))

    [one] = reports(taking)
    assert one["tests"] == []
    assert one["hello_ok"] is False


def test_without_results_only_a_check_says_that_the_box_was_reached(
    bench: Bench, taking: AnsweringServer
) -> None:
    bench.run("--junit", "r.xml", *shell("true"))
    bench.run("--junit", "r.xml", "--hello-cmd", "true", *shell("true"))

    assert [one["hello_ok"] for one in reports(taking)] == [False, True]


def test_a_box_that_is_not_reached_is_reported_and_the_tests_are_not_run(
    bench: Bench, taking: AnsweringServer
) -> None:
    code, out, _ = bench.run("--hello-cmd", "exit 7", *shell("echo ran"))

    assert (code, out) == (1, "")
    [one] = reports(taking)
    assert (one["hello_ok"], one["conclusion"], one["tests"]) == (False, "failure", [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_cancelled_run_gets_the_signal_and_is_reported(
    bench: Bench, taking: AnsweringServer, number: signal.Signals
) -> None:
    """Those that it started get it, too, and results that are torn hold back no report."""
    script = "trap 'echo got it; echo \"<torn\" > r.xml; exit 130' TERM INT; echo on; sleep 60"
    started = bench.start("--junit", "r.xml", *shell(script))
    assert started.stdout is not None
    assert started.stdout.readline() == "on\n"
    started.send_signal(number)
    out, err = started.communicate(timeout=30)

    assert started.returncode == 130
    assert out == "got it\n"
    assert "The tests were cancelled" in err
    [one] = reports(taking)
    assert one["conclusion"] == "cancelled"


def test_a_second_signal_does_not_lose_the_report_of_a_cancelled_run(
    bench: Bench, taking: AnsweringServer
) -> None:
    started = bench.start(*shell("echo on; exec sleep 60"))
    assert started.stdout is not None
    assert started.stdout.readline() == "on\n"
    started.send_signal(signal.SIGINT)
    assert started.stderr is not None
    assert "cancelled" in started.stderr.readline()
    started.send_signal(signal.SIGTERM)
    started.communicate(timeout=30)

    assert started.returncode == 128 + signal.SIGINT
    assert [one["conclusion"] for one in reports(taking)] == ["cancelled"]


def test_the_tests_keep_the_terminal_and_its_ctrl_c(bench: Bench, taking: AnsweringServer) -> None:
    ours, theirs = pty.openpty()
    script = "read line; echo got $line; exec sleep 60"
    started = bench.start(
        *shell(script), stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, preexec_fn=_take
    )
    os.close(theirs)
    os.write(ours, b"this\n")
    seen = b""
    while b"got this" not in seen:
        seen += os.read(ours, 1000)
    os.write(ours, b"\x03")
    assert started.wait(timeout=30) == 128 + signal.SIGINT
    os.close(ours)

    assert [one["conclusion"] for one in reports(taking)] == ["cancelled"]


def _take() -> None:
    """Make the terminal on stdin that of a new session."""
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize(
    ("arguments", "unset", "named"),
    [
        (["--", "no-such-command"], "", "there is no such command"),
        (["--", "touch", "ran"], "HWCI_SHA", "--sha"),
        (["--", "touch", "ran"], "HWCI_BOX", "--box"),
        ([], "", "COMMAND"),
    ],
)
def test_a_run_that_could_not_be_reported_does_not_begin(
    bench: Bench, arguments: list[str], unset: str, named: str
) -> None:
    bench.environ.pop(unset, None)
    code, _, err = bench.run(*arguments)

    assert code == 2
    assert named in err
    assert not (bench.folder / "ran").exists()


def test_files_that_name_their_box_need_no_other(bench: Bench, taking: AnsweringServer) -> None:
    del bench.environ["HWCI_BOX"]
    one = shell(f"echo '{PASSES}' | tee 1.xml > 2.xml")
    bench.run("--junit", "b1=1.xml", "--junit", "b2=2.xml", *one)

    assert [one["box_key"] for one in reports(taking)] == ["b1", "b2"]


def test_a_run_that_no_ci_counts_is_one_run_at_start_and_end(
    server: RunningServer, tmp_path: Path
) -> None:
    """The box opens it, is heard, and the report completes the same record."""
    bench = Bench(tmp_path, server.url)
    del bench.environ["HWCI_RUN_ID"]
    with Client(server.url, token=server.token) as person:
        made = person.send(calls.create_box(server.org_id, "bench-1"))
        with Client(server.url) as nobody:
            key = nobody.send(calls.install_box(made.install_token)).api_key
        bench.environ |= {"HWCI_CI_KEY": server.ci_key, "HWCI_BOX_KEY": key}

        started = bench.start(
            "--junit", "r.xml", *shell(f"read go; echo '{PASSES}' > r.xml"), stdin=subprocess.PIPE
        )
        while not (runs := list(person.items(calls.list_runs(server.org_id)))):
            time.sleep(0.05)
        assert [str(run.status) for run in runs] == ["running"]
        _, err = started.communicate("go\n", timeout=30)

        assert started.returncode == 0, err
        after = list(person.items(calls.list_runs(server.org_id)))
        assert [run.id for run in after] == [run.id for run in runs]
        assert [(str(run.status), run.conclusion) for run in after] == [("reported", "success")]


def test_a_live_run_that_cannot_be_opened_is_a_note(bench: Bench, taking: AnsweringServer) -> None:
    code, _, err = bench.run(*shell("sleep 0.5"), HWCI_BOX_KEY="no key at all")

    assert code == 0
    assert "note: There is no live run: " in err
    assert len(reports(taking)) == 1
