# SPDX-License-Identifier: Apache-2.0
"""Runs that say little: no result file, none that can be read, no start, no word of hello. They are
reported all the same, and what is not known is not made up.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.benches import JOB, KEY, Bench, reports
from tests.cli.conftest import Command
from tests.cli.jobs import commit, git, junit
from tests.support.answering import Answer, AnsweringServer, answering

LATER = "If the hardware was not reached, report that: --hello-cmd COMMAND"


@pytest.fixture
def job(cli: Command, tmp_path: Path) -> Command:
    """The command in a job that sets all but the start, beside some result files."""
    (tmp_path / "one.xml").write_text(junit("a", "b", fails="b"))
    (tmp_path / "broken.xml").write_text("<torn")

    def run(*arguments: str, stdin: str | bytes = "", **env: str | None) -> Any:
        return cli("report-run", *arguments, stdin=stdin, **{**JOB, **env})

    return run


def sent(answer: Any, code: int = 0) -> list[dict[str, Any]]:
    assert answer.code == code, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


def boxes_of(answer: Any, code: int = 0) -> list[tuple[str, bool, int]]:
    return [(one["box_key"], one["hello_ok"], len(one["tests"])) for one in sent(answer, code)]


# No verdict


def test_failed_tests_without_any_verdict_are_noted_once_with_the_rule_that_sets_one(
    job: Command, tmp_path: Path
) -> None:
    (tmp_path / "two.xml").write_text(junit("c", "d", fails="d"))
    with answering(Answer(204)) as server:

        def said(*flags: str) -> str:
            files = ["--junit", "one.xml", "--junit", "two.xml", "--no-changes"]
            done = job(*files, *flags, HWCI_URL=server.url, HWCI_CI_KEY=KEY)
            assert done.code == 0, done.err
            return str(done.err)

        noted = said()
        unreached = said("--hello", "failed")
        (tmp_path / "hwci.toml").write_text('[[verdict]]\nmessage = "^"\nverdict = "infra"\n')
        ruled = said()

    assert noted.count("note: No verdict: 2 failed tests blamed neither the device nor the ") == 1
    assert "Once it passes on a later commit, such a failure is ambiguous until a person" in noted
    assert "add [[verdict]] rules to hwci.toml" in noted
    assert "No verdict" not in unreached + ruled


# No result file


@pytest.mark.parametrize(
    ("file", "why"),
    [("no.xml", "There is no such file"), ("no/*.xml", "No file matches")],
)
def test_a_run_that_left_no_file_is_reported_without_tests_and_with_a_warning(
    job: Command, file: str, why: str
) -> None:
    answer = job("-n", "--junit", file)

    [one] = sent(answer)
    assert (one["box_key"], one["hello_ok"], one["tests"]) == ("bench-1", True, [])
    assert one["conclusion"] == "failure"
    assert f"warning: {file}: {why}.\n" in answer.err
    assert "warning: The report of the run holds no test\n" in answer.err
    assert LATER in answer.err


@pytest.mark.parametrize("file", ["no.xml", "broken.xml"])
def test_a_run_without_a_file_to_read_fails_a_build_that_is_strict(job: Command, file: str) -> None:
    with answering(Answer(204)) as server:
        server_of = {"HWCI_URL": server.url, "HWCI_CI_KEY": KEY}
        assert job("--junit", file, "--no-changes", **server_of).code == 0
        assert job("--junit", file, "--no-changes", "--strict", **server_of).code == 1
        assert len(reports(server)) == 2


@pytest.mark.parametrize("left", [0, 1, 40])
def test_a_harness_that_is_killed_while_it_writes_leaves_a_run_without_tests(
    job: Command, tmp_path: Path, left: int
) -> None:
    written = (tmp_path / "one.xml").read_bytes()
    (tmp_path / "cut.xml").write_bytes(written[: len(written) * left // 100])

    answer = job("-n", "--junit", "cut.xml")

    [one] = sent(answer)
    assert (one["box_key"], one["tests"], one["conclusion"]) == ("bench-1", [], "failure")
    assert "warning: cut.xml" in answer.err
    assert "warning: The report of the run holds no test\n" in answer.err
    beside = job("-n", "--junit", "b1=cut.xml", "--junit", "b2=one.xml")
    assert boxes_of(beside) == [("b1", True, 0), ("b2", True, 2)]


def test_what_a_harness_wrote_whole_before_it_was_killed_is_reported_and_is_no_success(
    job: Command, tmp_path: Path
) -> None:
    written = junit("a", "b", "c").encode()
    (tmp_path / "cut.xml").write_bytes(written[: written.rindex(b"c")])

    with answering(Answer(204)) as server:
        run = ("--junit", "cut.xml", "--no-changes")
        of_server = {"HWCI_URL": server.url, "HWCI_CI_KEY": KEY}
        answer = job(*run, **of_server)
        strict = job(*run, "--strict", **of_server)
        one, _ = reports(server)

    assert (answer.code, strict.code) == (0, 1)
    assert [(test["id"], test["outcome"]) for test in one["tests"]] == [
        ("t.a", "pass"),
        ("t.b", "pass"),
    ]
    assert one["conclusion"] == "failure"
    assert "2 tests before that counted; what follows is lost" in answer.err
    assert "warning: Not all results were reported\n" in answer.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('<testsuites tests="0"/>', "It holds no test that ran."),
        (
            '<testsuite name="x"><testcase name="a"><skipped/></testcase></testsuite>',
            "It holds no test that ran (1 skipped).",
        ),
    ],
)
def test_a_file_in_which_nothing_ran_is_noted(
    job: Command, tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "none.xml").write_text(content)
    failed = "A run without any counts as failed, unless its conclusion is set."

    answer = job("-n", "--junit", "none.xml")
    beside = job("-n", "--junit", "none.xml", "--junit", "one.xml")

    assert [one["conclusion"] for one in sent(answer)] == ["failure"]
    assert f"warning: none.xml: {message} {failed}\n" in answer.err
    assert f"note: none.xml: {message}\n" in beside.err


@pytest.mark.parametrize("file", ["no.xml", "no/*.xml", "broken.xml"])
def test_a_run_that_did_not_reach_its_box_is_reported_whatever_became_of_its_files(
    job: Command, file: str
) -> None:
    answer = job("-n", "--junit", file, "--hello", "failed")

    assert boxes_of(answer) == [("bench-1", False, 0)]
    assert LATER not in answer.err
    assert (f"note: {file}: " in answer.err) == (file != "broken.xml")


def test_each_box_that_left_no_file_is_reported_beside_the_others(job: Command) -> None:
    files = ("--junit", "b1=no.xml", "--junit", "b2=one.xml", "--junit", "b3=no/*.xml")

    assert boxes_of(job("-n", *files)) == [("b1", True, 0), ("b2", True, 2), ("b3", True, 0)]
    assert [hello for _, hello, _ in boxes_of(job("-n", *files, "--hello=failed"))] == [False] * 3


def test_a_pattern_may_match_nothing_beside_other_files_of_its_box(job: Command) -> None:
    answer = job("-n", "--strict", "--junit", "one.xml", "no/*.xml")

    assert boxes_of(answer) == [("bench-1", True, 2)]
    assert "note: no/*.xml: No file matches.\n" in answer.err
    named = job("-n", "--junit", "one.xml", "no.xml")
    assert boxes_of(named) == [("bench-1", True, 2)]
    assert "warning: Not all results were reported\n" in named.err


def test_a_run_without_tests_is_not_what_the_next_one_counts_from(
    cli: Command, tmp_path: Path
) -> None:
    """What it was to test is still under test."""
    git(tmp_path, "init", "-q")
    tested = commit(tmp_path, "a.c", "First")
    (tmp_path / "one.xml").write_text(junit("a"))
    with answering(Answer(204)) as server:
        known = {**JOB, "HWCI_SHA": None, "HWCI_URL": server.url, "HWCI_CI_KEY": KEY}
        for run_id, file in (("1", "one.xml"), ("2", "no.xml"), ("3", "one.xml")):
            code = cli(
                "report-run", "--junit", file, stdin="", **{**known, "HWCI_RUN_ID": run_id}
            ).code
            assert code == 0
            commit(tmp_path, "a.c", f"After {run_id}")

        assert [one["changes"]["base_sha"] for one in reports(server)] == [None, tested, tested]


# No start


def test_results_without_times_start_when_they_were_written_less_what_they_took(
    job: Command, tmp_path: Path
) -> None:
    """At a desk the run is known by its start: the same files are the same run."""
    for name, at in (("one.xml", 1_700_000_060), ("two.xml", 1_700_000_000)):
        (tmp_path / name).write_text(junit(f"{name}.a", f"{name}.b", timestamp=""))
        os.utime(tmp_path / name, (at, at))
    run = ("-n", "--junit", "one.xml", "two.xml")

    answer = job(*run, HWCI_RUN_ID=None)

    [one] = sent(answer)
    assert (one["run_id"], one["started_at"]) == (1_699_999_999, "2023-11-14T22:13:19Z")
    assert "note: No file of bench-1 holds the time of its tests. By when the files" in answer.err
    assert "To correct it, set --started-at (HWCI_STARTED_AT).\n" in answer.err
    result = job(*run, "--started-at", "2026-01-31T09:00:00Z")
    assert sent(result)[0]["started_at"] == "2026-01-31T09:00:00Z"
    assert "note: " not in result.err


def test_results_without_times_begin_before_the_given_end(job: Command, tmp_path: Path) -> None:
    """The files may be copies, written later."""
    (tmp_path / "one.xml").write_text(junit("a", "b", timestamp=""))

    [one] = sent(job("-n", "--junit", "one.xml", "--ended-at", "2026-01-31T09:00:00Z"))

    assert one["started_at"] == "2026-01-31T08:59:59Z"


@pytest.mark.parametrize("time", ["1e300", "1e10"])
def test_a_time_that_no_clock_measured_is_no_reason_to_report_nothing(
    job: Command, tmp_path: Path, time: str
) -> None:
    (tmp_path / "one.xml").write_text(junit("a").replace("0.5", time))

    answer = job("-n", "--junit", "one.xml")

    assert boxes_of(answer) == [("bench-1", True, 1)]
    assert [test["duration_s"] for test in json.loads(answer.out)["tests"]] == [0]


# A box that can be none, or is of no file


def test_a_box_whose_name_is_too_long_delays_no_other(job: Command) -> None:
    long = "x" * 300

    answer = job("-n", "--junit", f"{long}=one.xml", "--junit", "ok=one.xml")

    assert boxes_of(answer, code=2) == [("ok", True, 2)]
    assert "cause: --box: String should have at most 255 characters\n" in answer.err


def test_a_flag_that_names_a_box_of_no_file_is_wrong_usage(job: Command) -> None:
    named = ("-n", "--junit", "b1=one.xml")

    answer = job(*named, "--box", "b9")

    assert (answer.code, answer.out) == (2, "")
    assert "error: --box names a box that no file is of\n" in answer.err
    assert boxes_of(job(*named)) == [("b1", True, 2)]  # a variable is of all jobs of the machine
    both = job(*named, "--junit", "one.xml", "--box", "b9")
    assert [box for box, _, _ in boxes_of(both)] == ["b1", "b9"]


# Words and checks of hello


@pytest.mark.parametrize(
    ("word", "reached", "tells"),
    [
        ("success", True, True),
        ("failure", False, True),
        ("Failed", False, True),
        ("skipped", True, False),
        ("cancelled", True, False),
    ],
)
def test_what_github_says_of_a_step_is_understood(
    job: Command, word: str, reached: bool, tells: bool
) -> None:
    result = job("-n", "--junit", "one.xml", HWCI_HELLO=word)
    flag = job("-n", "--junit", "one.xml", "--hello", word)

    assert boxes_of(result) == boxes_of(flag) == [("bench-1", reached, 2)]
    for who, answer in (("HWCI_HELLO", result), ("--hello", flag)):
        said = f"note: {who} is {word}, which does not show whether the hardware was reached.\n"
        assert (said in answer.err) is not tells


@pytest.mark.parametrize("word", ["yes", ""])
def test_another_word_of_hello_is_wrong_usage(job: Command, word: str) -> None:
    answer = job("-n", "--junit", "one.xml", "--hello", word)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: --hello ")


@pytest.fixture
def taking() -> Iterator[AnsweringServer]:
    """A server that takes what comes."""
    with answering(Answer(204)) as server:
        yield server


@pytest.mark.parametrize(
    ("files", "reached", "tests"),
    [
        (("--junit", "one.xml"), True, 2),
        (("--junit", "none/*.xml"), False, 0),
        (("--junit", "none.xml"), False, 0),
        ((), False, 0),
    ],
)
def test_a_signal_that_ends_the_check_does_not_lose_the_report(
    tmp_path: Path, taking: AnsweringServer, files: tuple[str, ...], reached: bool, tests: int
) -> None:
    """A check that was cut short says nothing, so results count; without any file of tests, the
    box was not reached.
    """
    (tmp_path / "one.xml").write_text(junit("a", "b"))
    check = ("--hello-cmd", "echo on >&2; exec sleep 60")
    command = [sys.executable, "-m", "hwci", "report-run", *check, *files]
    environ = Bench(tmp_path, taking.url).environ
    with subprocess.Popen(
        command, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True
    ) as started:
        assert started.stderr is not None
        assert started.stderr.readline() == "on\n"
        started.send_signal(signal.SIGTERM)
        _, err = started.communicate(timeout=60)

    assert started.returncode == 128 + signal.SIGTERM
    assert "The hello command was cut short" in err
    [one] = reports(taking)
    assert (one["hello_ok"], len(one["tests"])) == (reached, tests)


@pytest.mark.parametrize(("command", "status"), [("nosuch", 127), ("./one.xml", 126)])
def test_a_check_that_cannot_be_run_shows_nothing(job: Command, command: str, status: int) -> None:
    answer = job("-n", "--junit", "one.xml", "--hello-cmd", command)

    assert boxes_of(answer) == [("bench-1", True, 2)]
    assert f"warning: The hello command could not be run (status {status})" in answer.err
    assert "not reached" not in answer.err
    silent = job("-n", "--hello-cmd", command)
    assert (silent.code, silent.out) == (job("-n").code, job("-n").out)


@pytest.mark.parametrize("word", [("--hello", "failed"), ("--hello-cmd", "false")])
def test_tests_that_ran_where_nothing_was_reached_are_noted_as_not_counted(
    job: Command, word: tuple[str, str]
) -> None:
    answer = job("-n", "--junit", "one.xml", *word)

    assert boxes_of(answer) == [("bench-1", False, 2)]
    assert "warning: 2 tests ran, but hello says that the hardware was not reached" in answer.err
    assert "count nowhere" not in job("-n", "--junit", "none.xml", *word).err
    assert "count nowhere" not in job("-n", "--junit", "one.xml").err


# No key


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "The file that HWCI_CI_KEY_FILE names cannot be read: key: No such file"),
        ("\n", "key, which HWCI_CI_KEY_FILE names, is empty"),
    ],
)
def test_a_report_whose_key_is_not_mounted_waits_for_it(
    job: Command,
    cli: Command,
    tmp_path: Path,
    taking: AnsweringServer,
    content: str | None,
    why: str,
) -> None:
    if content is not None:
        (tmp_path / "key").write_text(content)
    run = ("--junit", "one.xml", "--no-changes")
    server_of = {"HWCI_URL": taking.url, "HWCI_CI_KEY_FILE": "key"}

    answer = job(*run, **server_of, HWCI_CI_KEY=None)

    assert answer.code == 0
    assert "warning: The run was not reported\n" in answer.err
    assert f"cause: {why}" in answer.err
    assert "with the key, `hwci spool flush --any-key` sends them" in answer.err
    (tmp_path / "key").write_text(KEY)
    flushed = cli("spool", "flush", "--any-key", **server_of, HWCI_CI_KEY=None)
    assert flushed.code == 0, flushed.err
    assert [len(one["tests"]) for one in reports(taking)] == [2]


def test_a_key_that_is_not_mounted_fails_a_build_that_is_strict(job: Command) -> None:
    run = ("--junit", "one.xml", "--no-changes", "--strict")

    assert job(*run, HWCI_CI_KEY=None, HWCI_CI_KEY_FILE="none").code == 1


def test_without_a_key_the_report_is_shown_as_lost(job: Command, tmp_path: Path) -> None:
    """A fork that may not see the key has nothing to say on that bench."""
    answer = job("--junit", "one.xml", "--no-changes", HWCI_CI_KEY="")

    assert answer.code == 0
    assert "Nothing of it is kept. The build goes on" in answer.err
    assert not list(tmp_path.rglob("*.report"))


def test_a_folder_that_was_deleted_is_an_error_of_three_lines(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    paths = {"firmware_paths": [], "harness_paths": [], "merge_trigger": True}
    config = {"repo_key": "r", "suite": "s", **paths}
    (tmp_path / "some.json").write_text(json.dumps(config))
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    for command in (
        ("report-run", "--box=b", "--hello=failed"),
        ("merge-announce",),
        ("env",),
        ("suite-config", "check"),
        ("suite-config", "check", str(tmp_path / "some.json")),
    ):
        answer = cli(*command)

        assert answer.code == 2
        assert answer.err.startswith("error: There is no folder to work in\ncause: ")
