# SPDX-License-Identifier: Apache-2.0
"""`hwci report-run` and `hwci merge-announce`: what is sent for which flags and files."""

import gzip
import json
import pwd
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hwci.ci.reporting import way
from hwci.ci.reporting.bodies import flag_of
from hwci.client.store import BenchStore, RunSeries
from hwci.server.app import CreateUser
from hwci.wire.reports import MergeAnnouncement, RunReport
from tests.cli.conftest import Command
from tests.cli.every_command import COMMANDS
from tests.cli.jobs import ANNOUNCED, HEAD, NOWHERE, junit
from tests.support.answering import unused_url
from tests.support.running import RunningServer
from tests.support.scene import REPORTS, merge

WRONG_KEY = "svc_" + "0" * 64
IMPOSSIBLE = "svc_\u00e9 x"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "one.xml").write_text(junit("a", "b", fails="b"))
    (tmp_path / "two.xml.gz").write_bytes(gzip.compress(junit("c").encode()))
    (tmp_path / "broken.xml").write_text("<testsuite>\n  <testcase")
    (tmp_path / "empty.xml").write_text("")
    (tmp_path / "page.xml").write_text("<html/>")
    return tmp_path


def dry(in_ci: Command, *arguments: str) -> list[dict[str, Any]]:
    code, out, _ = in_ci("report-run", *HEAD, *arguments, "--dry-run", HWCI_URL=NOWHERE)
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


def flags(command: str) -> set[str]:
    return {flag for parameter in COMMANDS[command].params for flag in parameter.opts}


# merge-announce


def test_a_merge_is_announced_from_flags(in_ci: Command) -> None:
    code, out, err = in_ci("merge-announce", *ANNOUNCED, "--strict")

    assert (code, out) == (0, "")
    assert err.startswith("Announced abcdef0123 of acme/firmware at http://")


def test_a_merge_is_announced_from_a_body(in_ci: Command, tmp_path: Path) -> None:
    body = merge("c" * 40).model_dump_json()
    (tmp_path / "merge.json").write_text(body)

    assert in_ci("merge-announce", "--body", "merge.json", "--strict").code == 0
    assert in_ci("merge-announce", "--body", "-", "--strict", stdin=body).code == 0


def test_a_dry_run_prints_the_exact_json_and_sends_nothing(in_ci: Command) -> None:
    code, out, err = in_ci("merge-announce", *ANNOUNCED, "-n", HWCI_URL=NOWHERE, HWCI_SUITE="s")

    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "repo_key": "acme/firmware",
        "suite": "s",
        "sha": "abcdef0123",
        "branch": "main",
        "merged_at": "2026-01-31T08:30:00Z",
    }


def test_a_dry_run_stays_json_whatever_the_names_hold(in_ci: Command, results: Path) -> None:
    (results / "odd.xml").write_text(junit("\x9b31m\u202e"), encoding="utf-8")
    code, out, _ = in_ci("report-run", *HEAD, "--box", "b", "--junit", "odd.xml", "-n")

    assert code == 0
    assert json.loads(out)["tests"][0]["id"] == "t.\x9b31m\u202e"
    assert "\x9b" not in out


def test_a_missing_or_broken_flag_is_wrong_usage(in_ci: Command) -> None:
    code, _, err = in_ci("merge-announce", *ANNOUNCED[2:])
    assert code == 2
    assert "repo_key: --repo-key (or HWCI_REPO_KEY)" in err

    code, _, err = in_ci("merge-announce", *ANNOUNCED, "--sha", "xyz")
    assert code == 2
    assert "cause: --sha is 'xyz': that is not a hash" in err


def test_a_body_and_a_flag_of_a_field_exclude_each_other(in_ci: Command) -> None:
    code, _, err = in_ci("merge-announce", "--body", "-", "--sha", "abcdef0", stdin="{}")

    assert code == 2
    assert "--sha is set as well" in err


@pytest.mark.parametrize("command", ["merge-announce", "report-run"])
def test_every_fault_of_a_bad_body_is_listed(in_ci: Command, command: str) -> None:
    code, out, err = in_ci(command, "--body", "-", stdin='{"sha": "xyz"}')

    assert (code, out) == (2, "")
    assert "body.sha: " in err
    assert "body.repo_key: Field required" in err


@pytest.mark.parametrize("command", ["merge-announce", "report-run"])
def test_a_body_that_is_not_there_is_wrong_usage(in_ci: Command, command: str) -> None:
    code, _, err = in_ci(command, "--body", "no.json")

    assert code == 2
    assert "no.json cannot be read" in err


# Refused and unreachable


@pytest.mark.parametrize(
    ("settings", "strict"),
    [
        ({"HWCI_URL": NOWHERE}, 5),
        ({"HWCI_CI_KEY": WRONG_KEY}, 4),
        ({"HWCI_CI_KEY": WRONG_KEY[:20]}, 4),
        ({"HWCI_CI_KEY": ""}, 4),
        ({"HWCI_CI_KEY": IMPOSSIBLE}, 1),
    ],
    ids=["unreachable", "wrong key", "key cut short", "no key", "impossible key"],
)
def test_a_build_fails_only_when_it_is_strict(
    in_ci: Command, results: Path, settings: dict[str, str], strict: int
) -> None:
    run = ("report-run", *HEAD, "--box", "bench-1", "--junit", str(results / "one.xml"))
    for command in (("merge-announce", *ANNOUNCED), run):
        code, out, err = in_ci(*command, **settings)
        assert (code, out) == (0, "")
        warning, cause, fix = err.splitlines()
        assert warning.startswith("warning: The ")
        assert cause.startswith("cause: ")
        assert fix.startswith("fix: ")

        code, _, err = in_ci(*command, "--strict", **settings)
        assert code == strict
        assert err.startswith("error: The ")
        assert in_ci(*command, **settings, HWCI_STRICT="1").code == strict


@pytest.mark.parametrize("by", ["HWCI_CI_KEY", "HWCI_CI_KEY_FILE"])
def test_a_report_with_a_key_of_impossible_letters_waits_and_the_key_is_not_repeated(
    in_ci: Command, server: RunningServer, tmp_path: Path, by: str
) -> None:
    (tmp_path / "key").write_text(IMPOSSIBLE)
    keys = {"HWCI_CI_KEY": IMPOSSIBLE} if by == "HWCI_CI_KEY" else {by: "key", "HWCI_CI_KEY": None}

    code, _, err = in_ci("merge-announce", *ANNOUNCED, **keys)

    assert code == 0
    assert err.startswith(
        "warning: The merge was not announced\ncause: What was given as a CI key "
    )
    assert "with the key, `hwci spool flush --any-key` sends them" in err
    assert "\u00e9" not in err
    assert in_ci("spool", "flush", "--any-key").err.endswith(f"Sent 1 report to {server.url}.\n")


@pytest.fixture
def homeless(in_ci: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """CI in a container that runs as any number: no HOME, and no entry among the users."""

    def unknown(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    return in_ci


def test_a_job_without_a_home_reports_from_its_environment(
    homeless: Command, results: Path
) -> None:
    run = ("report-run", *HEAD, "--box", "bench-1", "--junit", str(results / "one.xml"))

    assert homeless("merge-announce", *ANNOUNCED, "--strict").code == 0
    assert homeless(*run, "--strict").code == 0


def test_a_job_without_a_home_and_with_a_server_that_is_away_learns_what_is_lost(
    homeless: Command,
) -> None:
    away = unused_url()
    code, _, err = homeless("merge-announce", *ANNOUNCED, HWCI_URL=away, XDG_STATE_HOME=None)

    assert code == 0
    assert "The merge was not announced, and nothing is kept of " in err
    assert "; and on the disk: HOME is not set, and this user has no home folder\n" in err
    assert (
        "to a folder that this user may write and that outlives the job. Then report again" in err
    )


def test_a_job_without_a_home_and_with_an_impossible_server_is_wrong_usage(
    homeless: Command,
) -> None:
    nowhere = "ftp://hwci.example.org"
    code, _, err = homeless("merge-announce", *ANNOUNCED, HWCI_URL=nowhere, XDG_STATE_HOME=None)

    assert code == 2
    assert err.startswith("error: The merge was not announced\ncause: 'ftp://")


def test_a_job_without_a_home_and_a_server_gets_an_error_of_three_lines(homeless: Command) -> None:
    code, _, err = homeless("merge-announce", *ANNOUNCED, HWCI_URL=None)

    assert code == 2
    assert err.splitlines() == [
        "error: There is no place for sign-ins",
        "cause: HOME is not set, and this user has no home folder",
        "fix: Set HWCI_URL with HWCI_TOKEN or HWCI_CI_KEY, or set XDG_CONFIG_HOME",
    ]


def test_sign_ins_that_cannot_be_read_do_not_stop_a_report(in_ci: Command, tmp_path: Path) -> None:
    (tmp_path / "config" / "hwci" / "credentials.json").mkdir(parents=True)

    assert in_ci("merge-announce", *ANNOUNCED, "--strict").code == 0
    code, _, err = in_ci("merge-announce", *ANNOUNCED, HWCI_URL=None)
    assert code == 2
    assert "credentials.json cannot be read\ncause: Is a directory\nfix: " in err


class Choosy(ThreadingHTTPServer):
    """A server that answers each box as set in `answers`, and the others with 204."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Choices)
        self.answers: dict[str, tuple[int, str]] = {}
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Choices(BaseHTTPRequestHandler):
    server: Choosy

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        box = json.loads(body)["box_key"]
        self.server.asked.append(box)
        status, message = self.server.answers.get(box, (204, ""))
        error = {"statusCode": status, "error": HTTPStatus(status).phrase, "message": message}
        answer = json.dumps(error).encode() if message else b""
        self.send_response(status)
        self.send_header("x-request-id", f"of-{box}")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Keep the terminal of the test clean."""


@pytest.fixture
def choosy() -> Iterator[Choosy]:
    with Choosy() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_refused_report_delays_no_other(in_ci: Command, results: Path, choosy: Choosy) -> None:
    choosy.answers = {"b1": (409, "Not this one"), "b3": (413, "Too large")}
    run = [f"--junit={box}={results}/one.xml" for box in ("b1", "b2", "b3", "b4")]

    code, _, err = in_ci("report-run", *HEAD, *run, "--strict", HWCI_URL=choosy.url)

    assert code == 1
    assert choosy.asked == ["b1", "b2", "b3", "b4"]
    assert err.splitlines()[:-1] == [
        "error: The run was not reported whole: 2 of 4 were sent",
        "cause: 2 reports not taken",
        "       b1: 409 Conflict: Not this one (request id of-b1)",
        "       b3: 413 Request Entity Too Large: Too large (request id of-b3)",
    ]
    code, _, err = in_ci("report-run", *HEAD, *run, HWCI_URL=choosy.url)
    assert code == 0
    assert err.startswith("warning: The run was not reported whole: 2 of 4 were sent\n")


def test_an_organization_without_metrics_learns_whom_to_ask(
    in_ci: Command, results: Path, choosy: Choosy
) -> None:
    choosy.answers = {"b1": (403, "CI Metrics is not enabled for this organization")}

    code, _, err = in_ci(
        "report-run", *HEAD, f"--junit=b1={results}/one.xml", "--strict", HWCI_URL=choosy.url
    )

    assert code == 4
    assert "hwci admin ci-metrics enable" in err
    assert "Check the address" not in err


@pytest.mark.parametrize(
    ("second", "remembered"),
    [((204, ""), True), ((503, "Busy"), True), ((409, "Nor this"), False)],
    ids=["taken", "waiting", "refused"],
)
def test_a_bench_remembers_a_run_by_the_reports_that_were_not_refused(
    in_ci: Command, results: Path, choosy: Choosy, second: tuple[int, str], remembered: bool
) -> None:
    choosy.answers = {"b1": (409, "Not this one"), "b2": second}
    run = ["report-run", *HEAD, f"--junit=b1={results}/one.xml", f"--junit=b2={results}/one.xml"]

    in_ci(*run, HWCI_URL=choosy.url)

    lane = RunSeries("acme/firmware", "hil", "main", "hil")
    run_of_lane = BenchStore(results / "state/hwci/spool").recall(lane).past.reported(4711)
    assert (run_of_lane is not None) is remembered
    assert run_of_lane is None or run_of_lane.hello_ok
    again = [argument.replace("one.xml", "two.xml.gz") for argument in run]
    _, _, err = in_ci(*again, HWCI_URL=choosy.url)
    assert "The report of b1 replaces" not in err
    assert ("The report of b2 replaces" in err) is remembered


def test_a_refused_part_is_named(in_ci: Command, tmp_path: Path, choosy: Choosy) -> None:
    choosy.answers = {"big": (409, "No")}
    (tmp_path / "many.xml").write_text(junit(*(f"n{number}" for number in range(1_001))))

    _, _, err = in_ci("report-run", *HEAD, "--junit=big=many.xml", HWCI_URL=choosy.url)

    assert "The run was not reported: 0 of 2 were sent\n" in err
    assert "       big part 1 of 2: 409 Conflict: No (request id of-big)\n" in err
    assert "       big part 2 of 2: 409 Conflict: No (request id of-big)\n" in err


def test_a_server_that_takes_nothing_is_not_asked_again_and_again(
    in_ci: Command, results: Path, choosy: Choosy
) -> None:
    choosy.answers = {"b2": (503, "Busy")}
    run = [f"--junit={box}={results}/one.xml" for box in ("b1", "b2", "b3", "b4")]

    _, _, err = in_ci("report-run", *HEAD, *run, HWCI_URL=choosy.url)

    assert "b3" not in choosy.asked
    assert err.splitlines()[:3] == [
        "warning: The run was not reported whole: 1 of 4 were sent",
        "cause: 1 report not taken, 2 not tried",
        "       b2: 503 Service Unavailable: Busy (request id of-b2)",
    ]


# report-run


def test_a_whole_body_is_reported(in_ci: Command) -> None:
    body = REPORTS[0].model_dump_json(exclude_unset=True)
    code, out, err = in_ci("report-run", "--body", "-", "--strict", stdin=body)

    assert (code, out) == (0, "")
    assert err.startswith("Reported 2 tests (0 failed) on bench-1 to http://")


def test_junit_files_of_one_box_are_one_report(in_ci: Command, results: Path) -> None:
    files = [str(results / "one.xml"), str(results / "two.xml.gz")]
    [body] = dry(in_ci, "--box", "bench-1", "--junit", *files)

    assert [test["id"] for test in body["tests"]] == ["t.a", "t.b", "t.c"]
    assert body["box_key"] == "bench-1"
    assert body["started_at"] == "2026-01-31T09:30:00Z"
    assert body["hello_ok"] is True
    assert body["conclusion"] == "failure"
    assert "suite" not in body


def test_files_may_name_their_box(in_ci: Command, results: Path) -> None:
    one, two = f"bench-1={results}/one.xml", f"bench-2={results}/two.xml.gz"

    bodies = dry(in_ci, "--junit", one, "--junit", two)

    assert [body["box_key"] for body in bodies] == ["bench-1", "bench-2"]


def test_flags_set_fields_of_the_report(in_ci: Command, results: Path) -> None:
    commit = {"sha": "a" * 40, "subject": "One", "files": ["x.c"]}
    (results / "changes.json").write_text(json.dumps({"base_sha": None, "commits": [commit]}))
    flags = [
        "--suite",
        "sensor-fw",
        "--started-at",
        "2026-01-01T00:00:00Z",
        "--ended-at",
        "2026-01-01T00:01:00Z",
        "--conclusion",
        "cancelled",
        "--hello",
        "failed",
        "--box",
        "b",
        "--covers-shas",
        "abcdef1",
        "--changes",
        "changes.json",
    ]

    [body] = dry(in_ci, *flags, "--covers-shas", "abcdef2\nabcdef3")

    assert body["suite"] == "sensor-fw"
    assert body["ended_at"] == "2026-01-01T00:01:00Z"
    assert body["conclusion"] == "cancelled"
    assert body["hello_ok"] is False
    assert body["tests"] == []
    assert body["covers_shas"] == ["abcdef1", "abcdef2", "abcdef3"]
    assert body["changes"] == {"base_sha": None, "commits": [commit]}


def test_suite_and_box_may_come_from_the_environment(in_ci: Command, results: Path) -> None:
    code, out, _ = in_ci(
        "report-run", *HEAD, "--junit", str(results / "one.xml"), "-n", HWCI_BOX="b", HWCI_SUITE="s"
    )

    assert code == 0
    assert (json.loads(out)["box_key"], json.loads(out)["suite"]) == ("b", "s")


def test_more_than_a_thousand_tests_go_in_parts_and_it_says_so(
    in_ci: Command, tmp_path: Path
) -> None:
    (tmp_path / "many.xml").write_text(junit(*(f"n{number}" for number in range(2_001))))

    code, _, err = in_ci("report-run", *HEAD, "--box", "big", "--junit", "many.xml", "--strict")

    assert code == 0
    first, second = err.splitlines()
    assert first == "More than 1,000 tests on a box: sending 3 parts of at most 1,000."
    assert second.startswith("Reported 2,001 tests (0 failed) on big in 3 reports to ")


def test_the_id_of_a_part_is_not_shown(in_ci: Command, tmp_path: Path) -> None:
    (tmp_path / "many.xml").write_text(junit(*(f"n{number}" for number in range(1_001))))
    in_ci("report-run", *HEAD, "--box", "big", "--junit", "many.xml", HWCI_URL=unused_url())

    waiting = json.loads(in_ci("spool", "list", "--json").out)

    assert [(one["name"], one["runId"]) for one in waiting] == [
        ("big part 1 of 2", 4711),
        ("big part 2 of 2", 4711),
    ]


def whole_body(size: int, **fields: object) -> str:
    """Return a body with this many tests."""
    tests = [
        {"id": f"n{number}", "outcome": "pass", "attempts": 1, "duration_s": 1}
        for number in range(size)
    ]
    head = REPORTS[0].model_dump(mode="json", exclude_unset=True)
    return json.dumps({**head, "run_id": 4712, "tests": tests, **fields})


def test_a_large_body_goes_in_parts_too(in_ci: Command) -> None:
    code, out, err = in_ci("report-run", "--body", "-", "--strict", stdin=whole_body(2_001))

    first, second = err.splitlines()
    assert (code, out) == (0, "")
    assert first == "More than 1,000 tests on a box: sending 3 parts of at most 1,000."
    assert second.startswith("Reported 2,001 tests (0 failed) on bench-1 in 3 reports to ")


def test_a_dry_run_of_a_large_body_prints_each_part(in_ci: Command) -> None:
    code, out, err = in_ci("report-run", "--body", "-", "-n", stdin=whole_body(1_001))

    parts = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [(part["part_of"]["part"], len(part["tests"])) for part in parts] == [(1, 1_000), (2, 1)]


def test_faults_of_a_large_body_are_listed_with_their_place_in_the_file(in_ci: Command) -> None:
    body = json.loads(whole_body(2_500))
    body["tests"][2_345]["outcome"] = "skip"
    body["tests"][2_400]["id"] = "n0"

    code, _, err = in_ci("report-run", "--body", "-", stdin=json.dumps(body))

    assert code == 2
    assert "body.tests.2345.outcome: " in err
    assert "body.tests.2400.id: Should be unique" in err


def test_a_body_that_is_a_part_is_sent_as_one_and_may_not_be_larger(in_ci: Command) -> None:
    part_of = {"run_id": 4712, "part": 1, "parts": 1}
    fits = whole_body(1_000, part_of=part_of)
    large = whole_body(1_001, part_of=part_of)

    code, _, err = in_ci("report-run", "--body", "-", "--strict", stdin=fits)
    assert code == 0
    assert err.startswith("Reported 1,000 tests (0 failed) on bench-1 to ")

    code, _, err = in_ci("report-run", "--body", "-", stdin=large)
    assert code == 2
    assert "body.tests: Should have at most 1000 items, not 1001" in err


def test_a_file_without_results_is_one_line_and_the_others_are_sent(
    in_ci: Command, results: Path
) -> None:
    broken = [str(results / name) for name in ("broken.xml", "empty.xml", "page.xml", "no.xml")]
    code, _, err = in_ci(
        "report-run", *HEAD, "--box", "b", "--junit", *broken, str(results / "one.xml")
    )

    assert code == 0
    *faults, sent, _, warning, cause, fix = err.splitlines()
    assert [fault.split(":")[1].strip() for fault in faults] == broken
    assert f"{results}/broken.xml:2:3: " in faults[0]
    assert sent.startswith("Reported 2 tests (1 failed) on b to ")
    assert warning == "warning: Not all results were reported"
    assert cause == (
        "cause: a result file is missing, not whole, or at odds with itself; each is named above"
    )
    assert fix.endswith("The build goes on: --strict fails it")


def test_a_file_without_results_fails_a_build_that_is_strict_and_the_others_are_sent(
    in_ci: Command, results: Path
) -> None:
    broken, one = str(results / "broken.xml"), str(results / "one.xml")
    code, _, err = in_ci(
        "report-run", *HEAD, "--box", "b", "--strict", "--junit", broken, "--junit", one
    )

    assert code == 1
    assert "Reported 2 tests (1 failed) on b to " in err
    assert "error: Not all results were reported\n" in err


@pytest.mark.parametrize(
    ("hello", "says"),
    [
        ((), "; hello ok without tests (was a box not reached? Set --hello-cmd) to "),
        (("--hello", "ok"), "; hello ok without tests (was a box not reached? Set --hello-cmd) "),
        (("--hello", "failed"), "; hello failed to "),
    ],
)
def test_only_hello_failed_says_that_a_box_was_not_reached(
    in_ci: Command, results: Path, hello: tuple[str, ...], says: str
) -> None:
    (results / "none.xml").write_text(junit())
    code, _, err = in_ci("report-run", *HEAD, "--box", "b", "--junit", "none.xml", *hello)

    assert code == 0
    empty, reported = err.splitlines()
    assert empty.startswith("warning: none.xml: It holds no test that ran. ")
    assert f"{reported}\n".startswith(f"Reported 0 tests (0 failed) on b{says}")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "tests: --junit FILE"),
        (("--junit", "one.xml"), "--box"),
        (("--hello", "failed"), "--box"),
        (("--junit", "one.xml", "--box", "b", "--sha", "zz"), "--sha"),
        (("--junit", "one.xml", "--box", "b", "--started-at", "noon"), "--started-at"),
        (("--junit", "one.xml", "--box", "b", "--trigger", "cron"), "--trigger"),
        (("--body", "x.json"), "--repo-key is set as well"),
    ],
)
def test_wrong_usage_is_never_forgiven(
    in_ci: Command, results: Path, arguments: tuple[str, ...], named: str
) -> None:
    assert results.exists()
    code, out, err = in_ci("report-run", *HEAD, *arguments)

    assert (code, out) == (2, "")
    assert named in err


FIELD_FLAGS = ("--repo-key", "--sha", "--branch", "--suite", "--before-sha", "--merge-branches")
RUN_FLAGS = ("--workflow", "--conclusion", "--covers-shas", "--base-sha", "--changes")
MORE_FLAGS = ("--hello-cmd", "--box", "--junit", "--url", "--body")


@pytest.mark.parametrize("flag", [*FIELD_FLAGS, *RUN_FLAGS, *MORE_FLAGS])
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_flag_is_wrong_usage(in_ci: Command, results: Path, flag: str, empty: str) -> None:
    assert results.exists()
    run = ("report-run", *HEAD, "--box", "b", "--junit", "one.xml")

    code, out, err = in_ci(*(("report-run",) if flag == "--body" else run), flag, empty)

    assert (code, out) == (2, "")
    assert err.startswith(f"error: {flag} ")
    assert "is the variable behind it set?" in err or flag == "--box"


@pytest.mark.parametrize("flag", [*FIELD_FLAGS, "--body", "--profile"])
def test_a_merge_is_not_announced_by_an_empty_flag(in_ci: Command, flag: str) -> None:
    head = ("--repo-key", "r", "--sha", "a" * 40, "--branch", "b")
    when = ("--merged-at", "2026-01-31T09:30:00Z")

    code, _, err = in_ci("merge-announce", *(() if flag == "--body" else (*head, *when)), flag, "")

    assert (code, err.startswith(f"error: {flag} is empty\n")) == (2, True)


def test_the_error_of_several_boxes_shows_how_to_name_them(in_ci: Command, results: Path) -> None:
    assert results.exists()
    run = ("report-run", *HEAD, "--junit", "one.xml", "--box", "a", "--box")

    code, out, err = in_ci(*run, "b")

    assert (code, out) == (2, "")
    assert "cause: 2 are named: a, b\nfix: Write --junit BOX=FILE for each" in err
    assert in_ci(*run, "a", "--dry-run").code == 0


@pytest.mark.parametrize("text", ["b=", "=one.xml"])
def test_a_result_file_needs_its_name_and_a_box_its_own(in_ci: Command, text: str) -> None:
    code, _, err = in_ci("report-run", *HEAD, "--box", "b", "--junit", text)

    assert (code, err.startswith("error: --junit or FILE names no result file\n")) == (2, True)


def test_a_fault_names_a_flag_that_there_is(in_ci: Command, results: Path) -> None:
    run = ("report-run", *HEAD, "--junit", str(results / "one.xml"))

    _, _, err = in_ci(*run, "--box", "x" * 256)
    assert "cause: --box: String should have at most 255 characters\n" in err
    _, _, err = in_ci(*run, "--box", "b", "--covers-shas", "abcdef0,no")
    assert "cause: --covers-shas is 'no': that is not a hash" in err


def test_each_field_of_a_report_has_its_flag() -> None:
    announcement, run = set(MergeAnnouncement.model_fields), set(RunReport.model_fields)

    assert {flag_of(field) for field in announcement} <= flags("merge-announce")
    assert {flag_of(field) for field in run - {"part_of"}} <= flags("report-run")
    user = set(CreateUser.model_fields) - {"password"}
    assert {flag_of(field) for field in user} <= flags("admin create-user")


@pytest.mark.parametrize(
    ("command", "report", "shown"),
    [
        (("report-run", "--junit", "one.xml"), "report", ""),
        (("report-run", "--junit", "one.xml", "-n"), "report", "; what is known is printed above"),
        (("exec", "--strict", "--", "true"), "report", ""),
        (("merge-announce", "--repo-key", "r"), "announcement", ""),
    ],
)
def test_fields_that_only_the_caller_can_set_are_asked_for_in_the_same_words_by_all(
    in_ci: Command, results: Path, command: tuple[str, ...], report: str, shown: str
) -> None:
    assert results.exists()
    names = ["repo_key", "branch", "sha", "box_key"] if report == "report" else MERGE_FIELDS
    ways = [f"       {name}: {way(name)}" for name in names]

    code, _, err = in_ci(*command)

    warnings = ("warning: Git failed", "warning: no product")
    result = [line for line in err.splitlines() if not line.startswith(warnings)]
    assert (code, result) == (
        2,
        [
            f"error: The {report} lacks fields that only you can set",
            f"cause: missing: {', '.join(names)}{shown}",
            *(f"{line}, or --junit BOX=FILE" if "--box" in line else line for line in ways),
            "fix: Add what is named above, or run hwci init; hwci env shows the sources",
        ],
    )


MERGE_FIELDS = ["sha", "branch", "merged_at"]


def test_the_flags_of_a_run_are_the_same_for_who_reports_it_and_who_runs_it() -> None:
    """Except `--junit`: for `exec` it names files that the command will write."""
    reported, run = (
        {option.name: option for option in COMMANDS[name].params} for name in ("report-run", "exec")
    )
    shared = (reported.keys() & run.keys()) - {"junit"}

    assert {"workflow", "run_id", "trigger", "box_key", "hello_cmd", "sha", "deadline"} <= shared
    for name in shared:
        one, other = (
            (found.opts, found.metavar, found.help, found.default)
            for found in (reported[name], run[name])
        )
        assert one == other


def test_every_fault_of_bad_changes_is_listed(in_ci: Command, results: Path) -> None:
    (results / "changes.json").write_text('{"commits": [{"sha": "abcdef1"}]}')
    code, _, err = in_ci(
        "report-run", *HEAD, "--box", "b", "--junit", "one.xml", "--changes", "changes.json"
    )

    assert code == 2
    assert "body.commits.0.subject: Field required" in err
