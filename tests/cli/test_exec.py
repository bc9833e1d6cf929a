# SPDX-License-Identifier: Apache-2.0
"""What `hwci exec` runs, reports and says; in a process of its own where signals and exit codes are
those of the system.
"""

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hwci.client import Client, calls
from hwci.client._protocol import GZIP_FROM_BYTES
from hwci.client.files import locked
from tests.cli.benches import PASSES, Bench, bench, reports, shell, taking
from tests.cli.jobs import junit
from tests.support.answering import Answer, AnsweringServer, RudeHandler, answering, unused_url
from tests.support.running import RunningServer

__all__ = ["bench", "taking"]  # fixtures

FAILS = PASSES.replace("/></", "><failure/></testcase></")


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


def test_what_the_tests_print_passes_as_it_is(bench: Bench) -> None:
    printed = "::error::by the tests\n##vso[task.x]y\n"

    _, out, err = bench.run(*shell(f"printf '{printed}'; printf '{printed}' >&2"))

    assert out == printed
    assert err.startswith(printed)


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", 137)])
def test_the_exit_code_of_the_tests_is_kept_whatever_the_server_answers(
    bench: Bench, script: str, code: int
) -> None:
    bench.environ["HWCI_URL"] = unused_url()
    started = bench.start("--strict", *shell(script))
    started.communicate(timeout=60)

    assert started.returncode == code


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

    _, _, err = bench.run("--junit", "r.xml", *shell("exit 1"))

    [one] = reports(taking)
    assert one["tests"] == []
    older = "Older than the run, which did not write it"
    assert f"warning: r.xml: {older}.\n" in err


@pytest.mark.parametrize("script", ["exit 7", "true", "kill -TERM $$"])
def test_a_run_without_results_blames_no_bench_and_says_how_to_do_so(
    bench: Bench, taking: AnsweringServer, script: str
) -> None:
    _, _, err = bench.run("--junit", "r.xml", *shell(script))

    [one] = reports(taking)
    assert (one["hello_ok"], one["tests"]) == (True, [])
    assert "warning: r.xml: The run wrote no such file.\n" in err
    assert "If the hardware was not reached, report that: --hello-cmd COMMAND." in err


def test_tests_that_left_no_results_pass_only_without_strict(
    bench: Bench, taking: AnsweringServer
) -> None:
    assert bench.run("--junit", "r.xml", *shell("true"))[0] == 0
    assert bench.run("--junit", "r.xml", "--strict", *shell("true"))[0] == 1
    assert bench.run("--strict", *shell("true"))[0] == 0  # it was to leave none
    assert len(reports(taking)) == 3


def test_a_box_that_no_file_is_of_stops_no_test_but_of_a_strict_caller(bench: Bench) -> None:
    named = ("--box", "b9", "--junit", "b1=r.xml")
    assert bench.run(*named, *shell("echo ran; exit 7"))[:2] == (7, "ran\n")
    code, out, err = bench.run("--strict", *named, *shell("echo ran"))

    assert (code, out) == (2, "")
    assert "--box names a box that no file is of" in err


def test_a_box_that_is_not_reached_is_reported_and_the_tests_are_not_run(
    bench: Bench, taking: AnsweringServer
) -> None:
    code, out, _ = bench.run("--hello-cmd", "exit 7", *shell("echo ran"))

    assert (code, out) == (1, "")
    [one] = reports(taking)
    assert (one["hello_ok"], one["conclusion"], one["tests"]) == (False, "failure", [])


def test_a_check_that_cannot_be_run_is_none(bench: Bench, taking: AnsweringServer) -> None:
    code, out, err = bench.run("--hello-cmd", "nosuch", *shell("echo ran"))

    assert (code, out) == (0, "ran\n")
    assert "warning: The hello command could not be run (status 127)" in err
    [one] = reports(taking)
    assert (one["hello_ok"], one["conclusion"]) == (True, "success")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_cancelled_run_gets_the_signal_and_is_reported(
    bench: Bench, taking: AnsweringServer, number: signal.Signals
) -> None:
    """Those that it started get it, too, and results that are torn hold back no report."""
    waits = "while :; do sleep 0.1; done"
    script = f"trap 'echo got it; echo \"<torn\" > r.xml; exit 130' TERM INT; echo on; {waits}"
    started = bench.start("--junit", "r.xml", *shell(script))
    assert started.stdout is not None
    assert started.stdout.readline() == "on\n"
    started.send_signal(number)
    out, err = started.communicate(timeout=60)

    assert started.returncode == 130
    assert out == "got it\n"
    assert "The run was cancelled" in err
    [one] = reports(taking)
    assert one["conclusion"] == "cancelled"


@pytest.mark.parametrize(
    ("number", "conclusion"),
    [(signal.SIGTERM, "cancelled"), (signal.SIGINT, "cancelled"), (signal.SIGKILL, "failure")],
)
def test_tests_that_somebody_else_asks_to_end_were_cancelled(
    bench: Bench, taking: AnsweringServer, number: signal.Signals, conclusion: str
) -> None:
    """A runner may signal each process by itself: this one sees only how the tests ended."""
    code, _, _ = bench.run(*shell(f"kill -{number.name.removeprefix('SIG')} $$"))

    assert code == 128 + number
    assert [one["conclusion"] for one in reports(taking)] == [conclusion]


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
    started.communicate(timeout=60)

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
    assert started.wait(timeout=60) == 128 + signal.SIGINT
    os.close(ours)

    assert [one["conclusion"] for one in reports(taking)] == ["cancelled"]


def _take() -> None:
    """Make the terminal on stdin that of a new session."""
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


UNREPORTABLE = [
    ({"HWCI_SHA": ""}, "--sha"),
    ({"HWCI_BOX": ""}, "--box"),
    ({"HWCI_REPO_KEY": "r" * 300}, "HWCI_REPO_KEY (or set --repo-key)"),
    ({"HWCI_BOX": "b" * 300}, "HWCI_BOX (or set --box)"),
    ({"HWCI_URL": "hwci.example.org"}, "is not a server address"),
    ({"HWCI_URL": "http://hwci.example.org/?x=1"}, "is not a server address"),
]


@pytest.mark.parametrize(("sent", "named"), UNREPORTABLE)
def test_a_run_that_cannot_be_reported_is_run_and_keeps_its_exit_code(
    bench: Bench, taking: AnsweringServer, sent: dict[str, str], named: str
) -> None:
    for ends in (0, 7):
        code, _, err = bench.run(
            "--junit=r.xml", *shell(f"echo the tests >&2; exit {ends}"), **sent
        )

        assert (code, err.count("warning: ")) == (ends, 1), err
        assert err.startswith("the tests\nwarning: The run was not reported\ncause: ")
        assert named in err
    assert reports(taking) == []


@pytest.mark.parametrize(("strict", "ends", "code"), [(0, 0, 0), (0, 7, 7), (1, 7, 7), (1, 0, 2)])
def test_what_stops_a_report_after_the_run_is_a_warning_too(
    bench: Bench, taking: AnsweringServer, strict: int, ends: int, code: int
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=bench.folder, check=True)
    breaks = shell(f"echo not toml > hwci.toml; exit {ends}")
    ended, _, err = bench.run(*["--strict"] * strict, *breaks)

    assert reports(taking) == []
    assert ended == code, err
    word = "warning" if code == ends else "error"
    assert f"{word}: The run was not reported\ncause: A setting cannot be understood" in err
    assert err.count("warning: ") + err.count("error: ") == 1
    assert ("The build goes on: --strict fails it" in err) is (not strict)


def test_who_runs_no_server_on_this_machine_is_told_to_start_it(bench: Bench) -> None:
    _, _, err = bench.run(*shell("true"), HWCI_URL=unused_url())

    assert "fix: Start it: hwci serve; or correct the address" in err


@pytest.mark.parametrize("more", [{}, {"HWCI_SUITE": "mine"}], ids=["no-product", "named"])
def test_a_run_of_no_product_says_which_one_it_counts_for_and_how_to_name_it(
    bench: Bench, taking: AnsweringServer, more: dict[str, str]
) -> None:
    bench.environ.pop("HWCI_WORKFLOW")
    _, _, err = bench.run(*shell("true"), **more)

    assert reports(taking)[0]["workflow"] == "local"
    told = [line for line in err.splitlines() if "counts as one of product local" in line]
    assert len(told) == (0 if more else 1), err
    assert all("Name it: --suite (HWCI_SUITE), or hwci.toml (hwci init)" in one for one in told)


@pytest.mark.parametrize(("sent", "named"), UNREPORTABLE)
def test_a_run_that_could_not_be_reported_to_a_strict_caller_does_not_begin(
    bench: Bench, sent: dict[str, str], named: str
) -> None:
    code, _, err = bench.run("--strict", *shell("touch ran"), **sent)

    assert code == 2
    assert named in err
    assert not (bench.folder / "ran").exists()


def test_without_a_command_nothing_is_run(bench: Bench) -> None:
    code, _, err = bench.run()

    assert (code, "COMMAND" in err) == (2, True)


OTHER_PRODUCT = """\
repo_key = "other/product"
[[product]]
suite = "other"
firmware_paths = ["a/**"]
harness_paths = ["b/**"]
"""
TOMLS = [
    (OTHER_PRODUCT, 1, "mine"),
    ('[tool.other]\nname = "x"\n', 1, "1 unknown key: tool"),
    ("not toml\n", 0, "The run was not reported\ncause: "),
    ("\xff", 0, "hwci.toml: is not text in UTF-8, at byte 0"),
]


@pytest.mark.parametrize(("text", "sent", "named"), TOMLS)
def test_an_hwci_toml_that_is_not_of_this_product_stops_no_test(
    bench: Bench, taking: AnsweringServer, text: str, sent: int, named: str
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=bench.folder, check=True)
    (bench.folder / "hwci.toml").write_bytes(text.encode("latin-1"))
    code, out, err = bench.run(*shell("echo ran; exit 7"), HWCI_SUITE="mine")

    assert (code, out, len(reports(taking))) == (7, "ran\n", sent), err
    assert named in err


@contextmanager
def proxy_without(header: str, upstream: str) -> Iterator[str]:
    """A proxy on the way to a server, which takes a header away."""

    class Handler(RudeHandler):
        def do_POST(self) -> None:  # noqa: N802 - the name of the method
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name: text for name, text in self.headers.items() if name != header}
            to = HTTPConnection(urlsplit(upstream).netloc, timeout=30)
            to.request("POST", self.path, body, headers)
            answer = to.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            to.close()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        serves = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.02})
        serves.start()
        try:
            yield f"http://127.0.0.1:{proxy.server_port}"
        finally:
            proxy.shutdown()
            serves.join()


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        ("X-API-Key", "Pending reports are kept in"),
        ("Content-Type", "Refused reports are set aside in"),
        ("Content-Encoding", "Refused reports are set aside in"),
    ],
)
def test_a_header_that_a_proxy_takes_away_is_named_and_the_tests_keep_their_exit_code(
    bench: Bench, server: RunningServer, header: str, kept: str
) -> None:
    (bench.folder / "large.xml").write_text(junit(*map(str, range(GZIP_FROM_BYTES // 16))))
    run = ("--junit", "out.xml", *shell("cp large.xml out.xml; exit 7"))
    with proxy_without(header, server.url) as url:
        code, _, err = bench.run(*run, HWCI_URL=url, HWCI_CI_KEY=server.ci_key)

    assert code == 7
    assert f"fix: {header} was sent, and something on the way took it: let it pass" in err
    assert kept in err


@pytest.mark.parametrize("key", ["", "$(HWCI_CI_KEY)"])
def test_a_key_that_a_job_does_not_get_is_named_by_its_variable(bench: Bench, key: str) -> None:
    code, _, err = bench.run(*shell("exit 7"), HWCI_CI_KEY=key)

    assert code == 7
    assert "cause: HWCI_CI_KEY is not set, or empty\n" in err


def test_tests_run_wherever_to_where_a_job_may_not_see_the_key(bench: Bench) -> None:
    words = {"HWCI_URL": "$(HWCI_URL)", "HWCI_CI_KEY": "$(HWCI_CI_KEY)"}
    code, _, err = bench.run("--junit", "r.xml", *shell("touch ran; exit 7"), **words)

    assert code == 7
    assert "Nothing of it is kept" in err
    assert (bench.folder / "ran").exists()


@pytest.mark.parametrize(
    ("command", "mode", "code", "why"),
    [
        ("no-such-command", None, 127, "The program was not found on PATH"),
        ("./folder/no-such-command", None, 127, "No such file or directory"),
        ("./tests.sh", 0o644, 126, "Permission denied"),
        ("./tests.sh", 0o755, 126, "Exec format error"),
    ],
)
def test_a_command_that_cannot_be_run_is_no_test_and_ends_as_in_a_shell(
    bench: Bench, taking: AnsweringServer, command: str, mode: int | None, code: int, why: str
) -> None:
    if mode is not None:
        (bench.folder / "tests.sh").write_text("no first line that says by what it is run\n")
        (bench.folder / "tests.sh").chmod(mode)

    ended, _, err = bench.run("--hello-cmd", "true", "--", command)

    assert ended == code
    assert f"cause: {why}: nothing was tested, and nothing is reported\n" in err
    assert reports(taking) == []


def test_a_signal_ends_the_check_and_all_that_it_started_and_the_box_was_not_reached(
    bench: Bench, taking: AnsweringServer
) -> None:
    """What it started holds stderr open: it would be waited for. No test began."""
    check = "sh -c 'echo on >&2; exec sleep 60'; true"
    started = bench.start("--hello-cmd", check, *shell("echo ran"))
    assert started.stderr is not None
    assert started.stderr.readline() == "on\n"
    started.send_signal(signal.SIGTERM)
    out, _ = started.communicate(timeout=60)

    assert (started.returncode, out) == (128 + signal.SIGTERM, "")
    [one] = reports(taking)
    assert (one["conclusion"], one["hello_ok"], one["tests"]) == ("cancelled", False, [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_a_run_is_reported_cuts_the_sending_short_and_loses_nothing(
    bench: Bench, number: signal.Signals
) -> None:
    with answering(Answer(silent=True), Answer(204)) as server:
        away = {"HWCI_URL": server.url, "HWCI_DEADLINE": "600"}
        bench.environ |= away
        started = bench.start(*shell("true"))
        while not server.received:  # it waits for the answer
            time.sleep(0.05)
        started.send_signal(number)
        _, err = started.communicate(timeout=60)

        assert started.returncode == 128 + number
        assert "The run was not reported yet\n" in err
        assert "hwci spool flush" in err
        assert _flushed(bench) == 0
        assert len(reports(server)) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_after_the_report_was_sent_lets_the_rest_come_to_its_end(
    bench: Bench, taking: AnsweringServer, number: signal.Signals
) -> None:
    """The summary is written last, and takes as long as its reader."""
    page = bench.folder / "page"
    os.mkfifo(page)
    bench.environ |= {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(page)}
    started = bench.start(*shell("true"))
    assert started.stderr is not None
    assert any(line.startswith("Reported ") for line in started.stderr)
    started.send_signal(number)
    with os.fdopen(os.open(page, os.O_RDONLY | os.O_NONBLOCK)) as reader:  # now it can be written
        _, err = started.communicate(timeout=60)
        assert "bench-1" in reader.read()

    assert (started.returncode, err) == (128 + number, "")
    assert len(reports(taking)) == 1


def _flushed(bench: Bench) -> int:
    command = [sys.executable, "-m", "hwci", "spool", "flush"]
    return subprocess.run(command, env=bench.environ, check=False, timeout=60).returncode


def test_a_signal_before_the_report_is_kept_waits_until_it_is(
    bench: Bench, taking: AnsweringServer
) -> None:
    """Another process that changes the spool holds the report up, once the results are read."""
    spool = Path(bench.environ["XDG_STATE_HOME"]) / "hwci" / "spool"
    spool.mkdir(parents=True)
    bench.environ["HWCI_HELLO"] = "failed"
    with locked(spool / ".lock", wait=True):
        started = bench.start("--junit", "r.xml", *shell(f"echo '{PASSES}' > r.xml"))
        assert started.stderr is not None
        assert any("1 test ran, but hello says" in line for line in started.stderr)
        started.send_signal(signal.SIGTERM)
    started.communicate(timeout=60)

    assert started.returncode == 128 + signal.SIGTERM
    assert _flushed(bench) == 0
    assert [one["conclusion"] for one in reports(taking)] == ["success"]


def test_files_that_name_their_box_need_no_other(bench: Bench, taking: AnsweringServer) -> None:
    del bench.environ["HWCI_BOX"]
    one = shell(f"echo '{PASSES}' | tee 1.xml > 2.xml")
    bench.run("--junit", "b1=1.xml", "--junit", "b2=2.xml", *one)

    assert [one["box_key"] for one in reports(taking)] == ["b1", "b2"]


def test_a_run_that_no_ci_counts_is_one_run_at_start_and_end(
    server: RunningServer, tmp_path: Path
) -> None:
    """The box opens it, is seen, and the report completes the same record."""
    bench = Bench(tmp_path, server.url)
    del bench.environ["HWCI_RUN_ID"]
    with Client(server.url, token=server.token) as person:
        made = person.send(calls.create_box(server.org_id, "bench-1"))
        with Client(server.url) as client:
            key = client.send(calls.install_box(made.install_token)).api_key
        bench.environ |= {"HWCI_CI_KEY": server.ci_key, "HWCI_BOX_KEY": key}

        started = bench.start(
            "--junit", "r.xml", *shell(f"read go; echo '{PASSES}' > r.xml"), stdin=subprocess.PIPE
        )
        while not (runs := list(person.items(calls.list_runs(server.org_id)))):
            time.sleep(0.05)
        assert [str(run.status) for run in runs] == ["running"]
        _, err = started.communicate("go\n", timeout=60)

        assert started.returncode == 0, err
        after = list(person.items(calls.list_runs(server.org_id)))
        assert [run.id for run in after] == [run.id for run in runs]
        assert [(str(run.status), run.conclusion) for run in after] == [("reported", "success")]


def test_a_live_run_that_cannot_be_opened_is_a_note(bench: Bench, taking: AnsweringServer) -> None:
    bench.environ["HWCI_BOX_KEY"] = "no key at all"
    started = bench.start(*shell("read end"), stdin=subprocess.PIPE)
    assert started.stderr is not None
    assert started.stderr.readline().startswith("note: There is no live run: ")
    started.communicate("end\n", timeout=60)

    assert started.returncode == 0
    assert len(reports(taking)) == 1
