# SPDX-License-Identifier: Apache-2.0
"""The commits that are reported, from clones and revisions as people have them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.benches import KEY, ROOT
from tests.cli.conftest import Command
from tests.cli.jobs import body, junit
from tests.support.answering import Answer, answering, unused_url
from tests.support.clones import OF_ANOTHER_USER, Story, git
from tests.support.recorded import recorded

ABSENT = "1" * 40
RUN = ("report-run", "--repo-key", "acme/firmware", "--box", "b", "--junit", "one.xml")


@pytest.fixture
def shas(tmp_path: Path) -> dict[int, str]:
    """A line of ten commits, cloned in full into the folder in which the commands run."""
    story = Story()
    story.branches["main"] = story.walk(0, 10)
    made = dict(story.made(tmp_path / "origin"))
    cloned(tmp_path)
    return made


def cloned(folder: Path, *options: str) -> None:
    origin = (folder / "origin").as_uri()
    git(folder, "clone", "--quiet", *options, origin, str(folder / "new"))
    for path in (folder / "new").iterdir():
        path.rename(folder / path.name)
    (folder / "one.xml").write_text(junit("a"))


@pytest.mark.parametrize("more", [(), ("--before-sha", "7"), ("--base-sha", "4")])
def test_a_dry_run_prints_the_same_again(
    in_ci: Command, tmp_path: Path, more: tuple[str, ...]
) -> None:
    story = Story()
    story.branches["main"] = story.walk(0, 10)
    made = story.made(tmp_path / "origin")
    cloned(tmp_path, "--depth=1")
    flags = [made[int(word)] if word.isdigit() else word for word in more]

    first, second = (in_ci(*RUN, *flags, "--dry-run") for _ in range(2))

    assert first == second
    (*_, last) = body(first)["changes"]["commits"]
    assert last["files"] != []


def test_a_commit_is_found_by_any_name_that_git_has_for_it(
    in_ci: Command, tmp_path: Path, shas: dict[int, str]
) -> None:
    git(tmp_path, "tag", "v1.2", shas[4])
    names = ("--sha", "main", "--base-sha", "v1.2", "--covers-shas", f"HEAD~1,{shas[10][:9]}")

    report = body(in_ci(*RUN, *names, "--dry-run"))

    assert report["sha"] == shas[10]
    assert report["changes"]["base_sha"] == shas[4]
    assert report["covers_shas"] == [shas[9], shas[10]]


@pytest.mark.parametrize("command", [RUN, ("merge-announce", "--repo-key", "r")])
@pytest.mark.parametrize("text", ["abc", "no-such-branch", "-x", ABSENT[1:]])
def test_an_unknown_commit_is_wrong_usage(
    in_ci: Command, shas: dict[int, str], command: tuple[str, ...], text: str
) -> None:
    assert shas
    for answer, by in (
        (in_ci(*command, f"--sha={text}", "--dry-run"), "--sha"),
        (in_ci(*command, "--dry-run", HWCI_SHA=text), "HWCI_SHA"),
    ):
        assert (answer.code, answer.out) == (2, "")
        assert f"{by} is {text!r}: that is not a full hash, and git knows no such" in answer.err


@pytest.mark.parametrize("text", ["abc", "HEAD~11", "-x"])
@pytest.mark.parametrize(
    ("command", "field"),
    [(RUN, "before-sha"), (RUN, "base-sha"), (("merge-announce", "--repo-key=r"), "before-sha")],
)
def test_an_unknown_earlier_commit_is_ignored_with_a_warning(
    in_ci: Command, shas: dict[int, str], command: tuple[str, ...], field: str, text: str
) -> None:
    """The report is the same as without it."""
    variable = f"HWCI_{field.upper().replace('-', '_')}"
    without = in_ci(*command, "--run-id=1", "-n") if command is RUN else in_ci(*command, "-n")
    more = ("--run-id=1",) if command is RUN else ()
    for answer, by in (
        (in_ci(*command, *more, f"--{field}={text}", "-n"), f"--{field}"),
        (in_ci(*command, *more, "-n", **{variable: text}), variable),
    ):
        assert (answer.code, answer.out) == (0, without.out), shas
        assert f"warning: {by} is {text!r}: that is not a full hash, and git knows" in answer.err
        assert "It is ignored.\n" in answer.err
    assert variable in in_ci("env", **{variable: text}).err
    assert variable in in_ci("doctor", **{variable: text}).out


@pytest.fixture
def shallow(tmp_path: Path) -> dict[int, str]:
    """The line of ten commits, cloned with its last one only."""
    story = Story()
    story.branches["main"] = story.walk(0, 10)
    made = dict(story.made(tmp_path / "origin"))
    cloned(tmp_path, "--depth=1")
    return made


@pytest.mark.parametrize("behind", [1, 9])
def test_a_shallow_clone_is_deepened_for_a_commit_named_from_its_tip(
    in_ci: Command, shallow: dict[int, str], behind: int
) -> None:
    report = body(in_ci(*RUN, f"--base-sha=HEAD~{behind}", "--dry-run"))

    assert report["changes"]["base_sha"] == shallow[10 - behind]
    assert len(report["changes"]["commits"]) == behind


@pytest.mark.parametrize("command", ["env", "doctor"])
def test_env_and_doctor_leave_a_shallow_clone_unchanged(
    in_ci: Command, shallow: dict[int, str], command: str
) -> None:
    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in Path(".git").rglob("*") if path.is_file()}

    before = files()
    answer = in_ci(command, HWCI_BEFORE_SHA="HEAD~1")

    assert (Path(".git/shallow").read_text(), files()) == (f"{shallow[10]}\n", before)
    assert "HWCI_BEFORE_SHA is 'HEAD~1'" in answer.out + answer.err
    assert "clone is shallow" in answer.out + answer.err


def test_a_shallow_clone_whose_remote_is_away_reports_without_the_commit_before(
    in_ci: Command, tmp_path: Path, shallow: dict[int, str]
) -> None:
    (tmp_path / "origin").rename(tmp_path / "gone")
    for command in (RUN, ("merge-announce", "--repo-key=r")):
        answer = in_ci(*command, "--dry-run", HWCI_BEFORE_SHA="HEAD~1")

        assert body(answer)["sha"] == shallow[10]
        assert "warning: HWCI_BEFORE_SHA is 'HEAD~1': that is not a full hash" in answer.err


def test_a_base_that_is_not_in_the_clone_is_named_as_such(
    in_ci: Command, shas: dict[int, str]
) -> None:
    answer = in_ci(*RUN, "--base-sha", ABSENT, "--dry-run")

    assert body(answer)["changes"]["base_sha"] is None
    assert body(answer)["changes"]["commits"][0]["sha"] == shas[10]
    assert "is not in this clone" in answer.err


@pytest.mark.parametrize("flags", [("--no-changes",), ("--changes", "own.json")])
def test_a_run_whose_changes_are_not_from_git_is_the_base_of_the_next(
    in_ci: Command, tmp_path: Path, shas: dict[int, str], flags: tuple[str, ...]
) -> None:
    own = f'{{"base_sha": null, "commits": [{{"sha": "{shas[5]}", "subject": "s", "files": []}}]}}'
    (tmp_path / "own.json").write_text(own)

    first = in_ci(*RUN, "--branch", "main", "--sha", shas[5], "--run-id", "1", "--strict", *flags)
    next_one = in_ci(*RUN, "--branch", "main", "--run-id", "2", "--dry-run")

    assert first.code == 0, first.err
    assert body(next_one)["changes"]["base_sha"] == shas[5]


# Where git fails


@pytest.fixture
def foreign_checkout(shas: dict[int, str]) -> dict[str, str]:
    """The environment in a checkout of another user, which git refuses to read."""
    assert shas
    return {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **OF_ANOTHER_USER}


COMMIT = ("--branch=main", f"--sha={ABSENT}", "--dry-run")


def test_a_checkout_that_git_refuses_is_an_error_with_its_fix(
    in_ci: Command, tmp_path: Path, foreign_checkout: dict[str, str]
) -> None:
    fix = f"git config --global --add safe.directory {tmp_path}"
    asked = (
        in_ci(*RUN, *COMMIT, **foreign_checkout),
        in_ci("merge-announce", "--repo-key=r", *COMMIT, **foreign_checkout),
        in_ci("env", **foreign_checkout),
    )

    for answer in asked:
        assert "Git failed: git rev-parse: fatal: detected dubious" in answer.err
        assert f"If you trust who owns the checkout: {fix}" in answer.err
    checked = in_ci("doctor", **foreign_checkout)
    assert "dubious ownership" in checked.out
    assert fix in checked.out


def test_a_checkout_that_git_refuses_may_hold_another_commit_than_the_ci_names(
    in_ci: Command, tmp_path: Path, foreign_checkout: dict[str, str]
) -> None:
    (tmp_path / "one.xml").write_text(junit("a"))
    by_ci = recorded("github-push") | foreign_checkout
    report = ("report-run", "--box=b", "--junit=one.xml", "-n")
    commands = (report, (*report, "--no-changes"), ("merge-announce", "-n"), ("env",))

    for command in commands:
        err = in_ci(*command, **by_ci).err
        assert err.count("The commit is that of GITHUB_SHA, checked out or not.") == 1, err


def test_outside_of_a_checkout_a_note_says_that_there_are_no_changes(
    in_ci: Command, tmp_path: Path
) -> None:
    (tmp_path / "one.xml").write_text(junit("a"))

    answer = in_ci(*RUN, *COMMIT)

    assert "changes" not in body(answer)
    assert "warning: Git failed: git rev-parse: fatal: not a git repo" in answer.err
    assert "Call hwci in the checkout that was tested; --no-changes needs no git.\n" in answer.err
    assert in_ci(*RUN, *COMMIT, "--no-changes", HWCI_SUITE="s").err == ""


def test_a_repository_without_a_commit_is_an_error(in_ci: Command, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")

    assert "warn  git: no commit is checked out" in in_ci("doctor").out
    assert "missing: sha" in in_ci("env").err


def test_a_dry_run_prints_the_base_of_the_changes_and_its_source(
    in_ci: Command, shas: dict[int, str]
) -> None:
    result = in_ci(*RUN, "--base-sha", shas[4], "--dry-run")
    without = in_ci(*RUN, "--dry-run")

    assert f"note: changes count from {shas[4]} (--base-sha).\n" in result.err
    assert "note: changes count from no commit (default).\n" in without.err
    assert "changes count from" not in in_ci(*RUN, "--no-changes", "--dry-run").err


@pytest.mark.parametrize(
    "command", [(*RUN, "--dry-run"), ("env",), ("doctor",)], ids=lambda it: it[0]
)
def test_changed_files_in_a_checkout_are_a_warning_that_names_some(
    in_ci: Command, shas: dict[int, str], command: tuple[str, ...]
) -> None:
    def output(*more: str) -> str:
        answer = in_ci(*command, *more)
        assert answer.code in {0, 1}
        return " ".join((answer.out + answer.err).split())

    changed = "tracked files differ from the commit that is reported: "
    paths = git(Path(), "ls-files").split()
    Path("new.log").touch()
    clean = output()
    Path(paths[0]).write_text("a fix that nobody committed")
    one = output()
    for path in paths[1:]:
        Path(path).unlink()
    many = output()

    assert changed not in clean
    assert f"{changed}{paths[0]}. " in one.replace(" fix: ", ". ")
    assert "revert" in one
    named = f"{', '.join(paths[:3])} and {len(paths) - 3} more"
    assert f"{changed}{named}" in many
    assert command[0] != "report-run" or changed not in output("--sha", shas[4])


def test_a_dry_run_says_if_the_given_base_is_not_sent(
    in_ci: Command, tmp_path: Path, shallow: dict[int, str]
) -> None:
    (tmp_path / "origin").rename(tmp_path / "gone")

    answer = in_ci(*RUN, "--base-sha", shallow[4], "--dry-run")

    assert body(answer)["changes"]["base_sha"] is None
    assert "changes count from" not in answer.err
    given = f"changes do not count from {shallow[4]} (--base-sha): no base is sent.\n"
    assert given in answer.err


KILLED_BEFORE_IT_SENDS = """
import os, signal
from hwci.cli.main import main
from hwci.client.delivery.sending import Dispatch

Dispatch.send = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
main()
"""


def killed_before_it_sends(run_id: int, sha: str) -> None:
    environ = {"HWCI_URL": unused_url(), "HWCI_CI_KEY": KEY, "PYTHONPATH": ROOT}
    command = [sys.executable, "-c", KILLED_BEFORE_IT_SENDS, *RUN]
    sender = subprocess.run(
        [*command, f"--run-id={run_id}", f"--sha={sha}"],
        env={**os.environ, **environ},
        check=False,
    )
    assert sender.returncode == -signal.SIGKILL


@pytest.mark.parametrize("flushed", [False, True])
def test_a_run_whose_sender_was_killed_before_it_sent_is_the_base_of_the_next(
    in_ci: Command, shas: dict[int, str], flushed: bool
) -> None:
    """Its report is on the disk, and another command may send it."""
    assert in_ci(*RUN, "--run-id=1", "--sha=HEAD~2", "--strict").code == 0
    killed_before_it_sends(2, "HEAD~1")
    if flushed:
        assert in_ci("spool", "flush", "--any-server", "--any-key").code == 0

    assert body(in_ci(*RUN, "--run-id=3", "--dry-run"))["changes"]["base_sha"] == shas[9]


def test_replacing_the_report_of_a_killed_sender_is_a_warning(
    in_ci: Command, tmp_path: Path, shas: dict[int, str]
) -> None:
    killed_before_it_sends(2, "HEAD~1")
    (tmp_path / "one.xml").write_text(junit("another"))

    other = in_ci(*RUN, "--run-id=2", f"--sha={shas[9]}", "--dry-run")

    assert "warning: The report of b replaces one of other tests: same run 2" in other.err


def test_a_pending_run_from_another_machine_is_not_remembered(
    in_ci: Command, shas: dict[int, str]
) -> None:
    """A body that was written elsewhere, perhaps long ago, is not a run of this bench."""
    assert in_ci(*RUN, "--run-id=1", "--sha=HEAD~2", "--strict").code == 0
    elsewhere = in_ci(*RUN, "--run-id=7", f"--sha={shas[3]}", "--dry-run").out
    killed_before_it_sends(2, "HEAD~1")
    in_ci("report-run", "--body", "-", stdin=elsewhere, HWCI_URL=unused_url())

    assert body(in_ci(*RUN, "--run-id=3", "--dry-run"))["changes"]["base_sha"] == shas[9]


def test_a_run_whose_sender_was_killed_is_the_base_of_the_next(
    in_ci: Command, shas: dict[int, str]
) -> None:
    """Its report is on the disk, and goes out with a later one."""
    assert in_ci(*RUN, "--run-id=1", "--sha=HEAD~2", "--strict").code == 0
    with answering(Answer(silent=True)) as hanging:
        environ = {"HWCI_URL": hanging.url, "HWCI_CI_KEY": KEY, "PYTHONPATH": ROOT}
        command = [sys.executable, "-m", "hwci", *RUN, "--run-id=2", "--sha=HEAD~1"]
        with subprocess.Popen(command, env={**os.environ, **environ}) as sender:
            while not hanging.received:
                assert sender.poll() is None
                hanging.stopping.wait(0.05)
            sender.kill()
            assert sender.wait() == -signal.SIGKILL

    assert body(in_ci(*RUN, "--run-id=3", "--dry-run"))["changes"]["base_sha"] == shas[9]
