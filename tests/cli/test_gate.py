# SPDX-License-Identifier: Apache-2.0
"""`hwci gate`: whether a release may go out, as an exit code, from a push to its lines."""

import json
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hwci.client import Client, calls
from hwci.wire import limits
from hwci.wire.reports import MergeAnnouncement
from tests.cli import jobs
from tests.cli.conftest import Answer, Command
from tests.support.running import RunningServer, running_in_thread
from tests.support.scene import PRODUCT, UNSEEN, E, play, report

REPO = "acme/released"
JSON_NAMES = {
    *("passed", "commits", "product", "period", "ends", "merges", "requirements", "against"),
    *("excepted", "unused", "toFillIn"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The server after the reports of `scene.py`, and a run that reaches the hardware again: of its
    merges `UNSEEN` is not checked.
    """
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        play(running)
        with Client(running.url, ci_key=running.ci_key) as client:
            client.send(calls.report_run(report(8, E, {"i2c": "pass"})))
        yield running


def pasted(answer: Answer) -> list[str]:
    """Return the lines that are no comments."""
    return [line for line in answer.out.splitlines() if not line.startswith("#")]


def test_a_merge_that_no_run_checked_speaks_against_the_release_with_the_run_that_would_check_it(
    signed_in: Command,
) -> None:
    answer = signed_in("gate", "--days", "7", "--require", "checked")
    planned = signed_in("merges", "plan", "--sha", UNSEEN[:8]).out.splitlines()

    assert (answer.code, answer.err) == (3, "")
    assert answer.out.startswith("# Not passed: the last 7 days (2 announced merges, up to ")
    assert f"#   {UNSEEN[:12]} of {PRODUCT}: Not checked on hardware: No run on it" in answer.out
    (command,) = pasted(answer)
    assert command in planned


def test_a_program_reads_the_whole_answer(signed_in: Command) -> None:
    code, out, _ = signed_in("gate", "--require", "checked,boxes=1,reached=90", "--json")
    found = json.loads(out)

    assert (code, found["passed"], found["merges"]) == (3, False, 2)
    assert found.keys() == JSON_NAMES
    assert [(row["requirement"], row["least"], row["met"]) for row in found["requirements"]] == [
        ("checked", None, False),
        ("boxes", 1, False),
        ("reached", 90, False),
    ]
    finding = found["against"][0]
    assert (finding["requirement"], finding["sha"]) == ("checked", UNSEEN)
    assert finding["runs"][0].startswith(f"git checkout --detach {UNSEEN}")
    assert found["against"][-1]["says"] == "7 of 8 runs reached the hardware: 87.5 %"


def test_pending_failures_of_the_branches_speak_against_it(signed_in: Command) -> None:
    found = json.loads(signed_in("gate", "--require", "no-pending,no-open-bug", "--json").out)
    listed = json.loads(signed_in("failures", "list", "--label", "pending", "--json").out)["items"]

    assert len(listed) == 1
    for row in found["against"]:
        assert (row["testId"], row["failureIds"]) == (listed[0]["testId"], [listed[0]["id"]])
        assert "--box bench-1" in row["runs"][0]
    assert [row["requirement"] for row in found["against"]] == ["no-pending", "no-open-bug"]


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        ("--branch mian", 2, "No run is of branch mian"),
        ("--branch mian --json", 2, "did you mean main?"),
        ("--product acme/firmware:sensor", 2, "did you mean"),
        ("--product nowhere:at-all", 2, "404"),
        ("--repo-key nowhere", 2, "404"),
        ("--require check", 2, "'check' is none of checked, no-open-bug"),
        ("--require boxes", 2, "should be boxes=N"),
        ("--days 7 --range a..b", 2, "--range and --days are given together"),
        ("--range a..b", 2, "not a git repository"),
        ("--commit HEAD", 2, "not a git repository"),
        ("--range=", 2, "--range is empty"),
        ("--branch=", 2, "--branch is empty"),
        ("--branch rel*", 2, "--branch rel* names no one branch"),
        ("--branch default", 2, "--branch default names no one branch"),
        ("--baseline none.toml", 2, "No such file"),
    ],
)
def test_what_is_not_known_or_not_understood_is_one_clear_line_and_never_passes(
    signed_in: Command, flags: str, code: int, said: str
) -> None:
    answer = signed_in("gate", *flags.split())

    assert answer.code == code, answer
    assert said in answer.out + answer.err
    assert "Traceback" not in answer.err


def test_a_branch_without_a_run_whose_merges_are_older_does_not_pass(
    server: RunningServer, signed_in: Command
) -> None:
    before = datetime.now(UTC) - timedelta(days=20)  # noqa: TID251 - the server's clock
    merge = MergeAnnouncement(
        repo_key="acme/older", sha="7" * 40, branch="release/1.0", merged_at=before
    )
    with Client(server.url, ci_key=server.ci_key) as client:
        client.send(calls.announce_merge(merge))

    answer = signed_in("gate", "--days", "7", "--branch", "release/1.0")

    assert answer.code == 3
    assert "Nobody announced a merge of the last 7 days on release/1.0" in answer.out


# Exceptions


def test_what_speaks_against_it_now_is_written_as_exceptions_that_hold_for_a_month(
    signed_in: Command, tmp_path: Path
) -> None:
    arguments = ("gate", "--days", "7", "--require", "checked,no-pending,no-open-bug")
    written = signed_in(*arguments, "--write-baseline", "known.toml")

    assert (written.code, "Wrote 2 exceptions to known.toml" in written.err) == (3, True)
    excepted = signed_in(*arguments, "--baseline", "known.toml")
    assert (excepted.code, excepted.err, pasted(excepted)) == (0, "", [])
    assert f"{UNSEEN[:12]} of {PRODUCT}: Not checked on hardware" in excepted.out
    again = signed_in(*arguments, "--baseline", "known.toml", "--write-baseline", "again.toml")
    assert again.code == 0
    assert (tmp_path / "again.toml").read_text() == (tmp_path / "known.toml").read_text()
    assert signed_in(*arguments, "--write-baseline", "known.toml").code == 2

    text = (tmp_path / "known.toml").read_text().replace("until = 2", "until = 1")
    (tmp_path / "known.toml").write_text(text)
    expired = signed_in(*arguments, "--baseline", "known.toml")
    assert expired.code == 3
    assert expired.out.count("#     Its exception ended on 1") == 3


def test_an_exception_of_nothing_is_named(signed_in: Command, tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(
        f'[[exception]]\ntest = "{"x" * 5}"\nreason = "Gone"\nuntil = 2999-01-01\n'
    )
    answer = signed_in("gate", "--require", "checked", "--baseline", "known.toml")

    assert (answer.code, "excepts xxxxx, which does not speak" in answer.err) == (3, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[exception", "at end of document"),
        ("[[exceptions]]", "exceptions: is not known"),
        ("exception = 1", "exception: is not known"),
        ("[[exception]]", "exception 1: should have one of commit, failure, test"),
        ('[[exception]]\ntest = "a"\nuntil = 2026-01-01', "reason: should say why"),
        ('[[exception]]\ntest = "a"\nreason = " "\nuntil = 2026-01-01', "reason: should say why"),
        ('[[exception]]\ntest = "a"\nreason = "r"', "until: should be a date"),
        ('[[exception]]\ntest = "a"\nreason = "r"\nuntil = "2026-01-01"', "without quotes"),
        ('[[exception]]\ntest = "a"\nreason = "r"\nuntil = 2026-01-01T00:00:00Z', "a date"),
        ('[[exception]]\ntest = "a"\ncommit = "abcdef0"', "should have one of"),
        ('[[exception]]\ncommit = "v1.4"', "commit: should be the whole hash"),
        ('[[exception]]\nfailure = "4f1c9a02"', "failure: should be the whole id"),
        ("[[exception]]\ntest = 1", "test: should be the whole id of a test"),
        ('[[exception]]\nbox = "a"', "box: is not known"),
        (f"# {'x' * limits.SUITE_CONFIG_BYTES * 4}", "holds more than"),
    ],
)
def test_a_baseline_that_is_not_whole_is_wrong_usage(
    signed_in: Command, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "known.toml").write_text(text)
    code, out, err = signed_in("gate", "--baseline", "known.toml")

    assert (code, out) == (2, "")
    assert said in err


# A repository, from a push to its release


class Bench:
    """The CI of a repository: it announces merges, and runs the suite on a box."""

    def __init__(self, in_ci: Command, suite: str = "hil") -> None:
        self._in_ci, self._suite = in_ci, suite
        self._runs = 0

    def announce(self, sha: str) -> None:
        flags = ("--repo-key", REPO, "--suite", self._suite, "--branch", "main")
        done = self._in_ci("merge-announce", *flags, "--sha", sha, "--strict")
        assert done.code == 0, done

    def run(self, sha: str, base: str, *more: str, box: str = "bench-1", fails: str = "") -> None:
        results = jobs.junit("boot", "i2c", fails=fails, timestamp="")
        Path("one.xml").write_text(results.replace("<failure/>", '<failure message="wrong"/>'))
        self._runs += 1
        flags = {
            "--repo-key": REPO,
            "--suite": self._suite,
            "--box": box,
            "--workflow": "hil",
            "--run-id": f"{self._runs}",
            "--branch": "main",
            "--sha": sha,
            "--base-sha": base,
            "--junit": "one.xml",
        }
        words = (word for flag in flags.items() for word in flag)
        done = self._in_ci("report-run", *words, *more, "--strict")
        assert done.code == 0, done


CHECKS = "checked,no-open-bug,no-pending,boxes=1"


def test_a_release_is_red_until_its_merges_ran_and_its_failure_is_fixed(
    signed_in: Command, in_ci: Command, tmp_path: Path
) -> None:
    jobs.git(tmp_path, "init", "-q")
    bench = Bench(in_ci)
    first = jobs.commit(tmp_path, "fw/boot.c", "First release")
    jobs.git(tmp_path, "tag", "v1.4")
    bench.announce(first)
    bench.run(first, first)

    def gate(commits: str) -> Answer:
        return signed_in("gate", "--repo-key", REPO, "--require", CHECKS, "--range", commits)

    broken = jobs.commit(tmp_path, "fw/i2c.c", "Break it")
    nothing = gate("v1.4..main")
    assert (nothing.code, "Nobody announced a merge of v1.4..main" in nothing.out) == (3, True)

    bench.announce(broken)
    unchecked = gate("v1.4..main")
    assert unchecked.code == 3
    assert f"#   {broken[:12]} of {REPO}:hil: Not checked on hardware" in unchecked.out

    bench.run(broken, first, fails="i2c")
    failing = gate("v1.4..main")
    assert (failing.code, "# checked: met." in failing.out) == (3, True)
    assert "# no-pending: not met." in failing.out
    assert all(shlex.split(line)[3] == broken for line in pasted(failing))

    fixed = jobs.commit(tmp_path, "fw/i2c.c", "Fix it")
    bench.announce(fixed)
    bench.run(fixed, broken)
    released = gate("v1.4..main")
    assert (released.code, pasted(released)) == (0, [])
    assert [line.partition(".")[0] for line in released.out.splitlines()[1:]] == [
        *("# checked: met", "# no-open-bug: met", "# no-pending: met", "# boxes=1: met"),
    ]


def test_a_bug_that_a_later_commit_fixed_is_open_in_the_release_without_it(
    signed_in: Command, in_ci: Command, tmp_path: Path
) -> None:
    (tmp_path / "hwci.toml").write_text(
        f'repo_key = "{REPO}"\n[[product]]\nsuite = "bug"\nfirmware_paths = ["fw/**"]\n'
        'harness_paths = []\n[[verdict]]\nmessage = "."\nverdict = "device"\n'
    )
    jobs.git(tmp_path, "init", "-q")
    assert in_ci("suite-config", "apply").code == 0
    bench = Bench(in_ci, "bug")
    before = jobs.commit(tmp_path, "fw/c.c", "Before")
    bench.run(before, before)
    shas = [before]
    for fails in ("i2c", ""):
        shas.append(jobs.commit(tmp_path, "fw/i2c.c", f"{fails} fails"))
        bench.announce(shas[-1])
        bench.run(shas[-1], shas[-2], fails=fails)
    _, broken, fixed = shas
    arguments = (
        "gate",
        "--product",
        f"{REPO}:bug",
        "--require",
        "no-open-bug",
        "--json",
        "--range",
    )

    without = signed_in(*arguments, f"{before}..{broken}")
    (finding,) = json.loads(without.out)["against"]
    assert without.code == 3
    assert finding["says"].endswith(
        f"a real firmware bug: its fix {fixed[:12]} comes after the end"
    )
    assert signed_in(*arguments, f"{before}..{fixed}").code == 0
    assert signed_in(*arguments, f"{broken}..{fixed}").code == 0


def test_a_commit_of_the_branch_that_nobody_announced_or_ran_speaks_against_it(
    signed_in: Command, in_ci: Command, tmp_path: Path
) -> None:
    jobs.git(tmp_path, "init", "-q")
    bench = Bench(in_ci)
    before = jobs.commit(tmp_path, "fw/d.c", "Before")
    lost = jobs.commit(tmp_path, "fw/lost.c", "Not announced")
    jobs.git(tmp_path, "checkout", "-q", "-b", "side")
    jobs.commit(tmp_path, "fw/side.c", "Of a side branch")
    jobs.git(tmp_path, "checkout", "-q", "main")
    jobs.git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge it", "side")
    merged = jobs.git(tmp_path, "rev-parse", "HEAD")
    bench.announce(merged)
    bench.run(merged, before)
    arguments = ("gate", "--require", "checked", "--range", f"{before}..main")

    against = signed_in(*arguments)
    assert against.code == 3
    assert against.out.count("Nobody announced this commit, and no run tested it") == 1
    (command,) = pasted(against)
    assert shlex.split(command)[3] == lost
    assert signed_in("gate", "--require", "checked,boxes=1", "--commit", merged).code == 0
    assert signed_in("gate", "--require", "checked", "--commit", lost).code == 3
    bench.run(lost, before)
    assert signed_in(*arguments).code == 0


def test_what_one_push_brought_counts_by_the_run_that_lists_it(
    signed_in: Command, in_ci: Command, tmp_path: Path
) -> None:
    jobs.git(tmp_path, "init", "-q")
    bench = Bench(in_ci)
    before = jobs.commit(tmp_path, "fw/a.c", "Before")
    one, two = (jobs.commit(tmp_path, f"fw/{name}.c", name) for name in ("one", "two"))
    bench.announce(two)
    bench.run(two, before, "--covers-shas", f"{one} {two}")

    assert signed_in("gate", "--range", f"{before}..main", "--require", "checked").code == 0


def test_a_commit_that_starts_no_product_of_hwci_toml_need_not_be_announced(
    signed_in: Command, in_ci: Command, tmp_path: Path
) -> None:
    jobs.git(tmp_path, "init", "-q")
    bench = Bench(in_ci)
    before = jobs.commit(tmp_path, "fw/b.c", "Before")
    merged = jobs.commit(tmp_path, "fw/merged.c", "Merged")
    jobs.commit(tmp_path, "docs/readme.md", "Documentation")
    bench.announce(merged)
    bench.run(merged, before)
    arguments = ("gate", "--range", f"{before}..main", "--require", "checked")

    assert signed_in(*arguments).code == 3
    (tmp_path / "hwci.toml").write_text(
        '[[product]]\nsuite = "hil"\nfirmware_paths = ["fw/**"]\nharness_paths = []\n'
        'trigger_paths = ["fw/**"]\n'
    )
    assert signed_in(*arguments).code == 0
