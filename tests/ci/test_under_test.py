# SPDX-License-Identifier: Apache-2.0
"""What a run has under test: over runs, attempts and boxes that follow one another on a machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from hwci.ci.detect import find_job
from hwci.ci.git.repository import Repository
from hwci.ci.job import Job
from hwci.ci.reporting.under_test import UnderTest, series_of, under_test
from hwci.client.store import BenchStore, PastRuns, PendingReport
from hwci.contract.vocabulary import Trigger
from hwci.wire.reports import PartOf, RunReport
from tests.ci.reporting import report_of
from tests.support.clones import Story, git
from tests.support.pending import ADDRESS, KEY

ABSENT = "1" * 40


def nobody(address: str, _: Mapping[str, str]) -> NoReturn:
    raise AssertionError(f"{address} was asked")


@dataclass
class Bench:
    """A machine that tests commits of a line of ten."""

    folder: Path
    shas: Mapping[int, str]

    def job(self, commit: int, run_id: int, **more: Any) -> Job:
        fields = {
            "repo_key": "acme/firmware",
            "workflow": "hil",
            "branch": "main",
            "run_id": run_id,
            "sha": self.shas[commit],
            **more,
        }
        return find_job(fields, {}, None, None)

    def look(self, job: Job) -> UnderTest:
        past = self.store.recall(series_of(job)).past
        return under_test(job, Repository(self.folder / "origin"), past, nobody)

    def test(self, commit: int, run_id: int, *, hello_ok: bool = True, **more: Any) -> UnderTest:
        """Find what is under test, and report it."""
        job = self.job(commit, run_id, **more)
        found = self.look(job)
        report = report_of(job, found.changes, hello_ok=hello_ok)
        self.keep(report)
        return found

    @property
    def store(self) -> BenchStore:
        return BenchStore(self.folder / "spool")

    def keep(self, report: RunReport) -> PendingReport:
        [kept] = self.store.keep([PendingReport.of(report)], ADDRESS, KEY)
        return kept


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    story = Story()
    story.branches["main"] = story.walk(0, 10)
    return Bench(tmp_path, story.made(tmp_path / "origin"))


def said(bench: Bench, found: UnderTest) -> tuple[int | None, list[int]]:
    """Return base and commits by their numbers."""
    numbers = {sha: number for number, sha in bench.shas.items()}
    assert found.changes is not None
    base = found.changes.base_sha
    commits = [numbers[item.sha] for item in found.changes.commits]
    return (None if base is None else numbers[base]), commits


def test_each_run_has_under_test_what_came_since_the_run_before(bench: Bench) -> None:
    assert said(bench, bench.test(3, 1)) == (None, [3])
    assert said(bench, bench.test(5, 2)) == (3, [4, 5])
    assert said(bench, bench.test(6, 3)) == (5, [6])


def test_what_a_lost_bench_did_not_test_is_still_under_test(bench: Bench) -> None:
    bench.test(3, 1)
    assert said(bench, bench.test(5, 2, hello_ok=False)) == (3, [4, 5])

    assert said(bench, bench.test(6, 3)) == (3, [4, 5, 6])


def test_a_new_attempt_has_the_changes_of_the_first(bench: Bench) -> None:
    bench.test(3, 1)
    first = bench.test(5, 2, hello_ok=False)
    bench.test(7, 3)

    again = bench.test(5, 2, run_attempt=2)

    assert again.changes == first.changes
    assert again.base.source == "the run before, kept on this bench"
    assert said(bench, bench.test(8, 4)) == (7, [8])


def test_a_commit_that_is_tested_again_has_the_changes_of_its_first_run(bench: Bench) -> None:
    bench.test(3, 1)
    first = bench.test(5, 2)

    assert bench.test(5, 3).changes == first.changes
    assert bench.test(5, 4).notes == ()
    assert said(bench, bench.test(6, 5)) == (5, [6])


def test_a_base_that_a_person_names_counts(bench: Bench) -> None:
    bench.test(3, 1)
    bench.test(5, 2)

    assert said(bench, bench.look(bench.job(5, 2, base_sha=bench.shas[1]))) == (1, [2, 3, 4, 5])


def test_a_base_that_is_no_ancestor_is_null_with_a_note(bench: Bench) -> None:
    found = bench.look(bench.job(3, 1, base_sha=bench.shas[7]))

    assert said(bench, found) == (None, [3])
    assert "not an ancestor" in found.notes[0]


def test_another_product_of_the_same_workflow_has_its_own_runs(bench: Bench) -> None:
    """What only the other product tested is still under test in this one."""
    bench.test(3, 1, suite="sensor")
    bench.test(4, 2, suite="gateway")
    bench.test(4, 3)

    assert said(bench, bench.test(5, 4, suite="sensor")) == (3, [4, 5])
    # Without a product it is the workflow.
    assert said(bench, bench.test(6, 5, suite="hil")) == (4, [5, 6])


def test_another_branch_or_workflow_has_its_own_runs(bench: Bench) -> None:
    bench.test(3, 1)

    assert said(bench, bench.test(5, 2, branch="release")) == (None, [5])
    assert said(bench, bench.test(5, 3, workflow="nightly")) == (None, [5])


def test_a_part_of_a_report_is_remembered_as_its_run(bench: Bench) -> None:
    job = bench.job(3, 77)
    report = report_of(job, bench.look(job).changes)
    part = {"run_id": 4711, "part_of": PartOf(run_id=77, part=2, parts=2)}

    kept = bench.keep(report.model_copy(update=part))

    assert (
        bench.look(bench.job(3, 77, run_attempt=2)).base.source
        == "the run before, kept on this bench"
    )
    assert (
        bench.look(bench.job(3, 4711, run_attempt=2)).base.source
        != "the run before, kept on this bench"
    )
    bench.store.refuse(kept, "400")
    assert (
        bench.look(bench.job(3, 77, run_attempt=2)).base.source
        != "the run before, kept on this bench"
    )


# The commits that a run covers


def covers(bench: Bench, commit: int, **more: Any) -> list[int]:
    numbers = {sha: number for number, sha in bench.shas.items()}
    return [numbers[sha] for sha in bench.look(bench.job(commit, 9, **more)).covers_shas]


def test_a_run_covers_its_push(bench: Bench) -> None:
    assert covers(bench, 5, before_sha=bench.shas[2]) == [3, 4, 5]
    assert covers(bench, 5) == [5]
    assert covers(bench, 5, before_sha=ABSENT) == [5]
    assert covers(bench, 5, before_sha=bench.shas[8]) == [5]
    assert covers(bench, 5, covers_shas=(bench.shas[4],)) == [4]


def test_a_merge_of_which_no_ci_says_more_covers_its_own_commit(bench: Bench) -> None:
    """What came since the run before may have been pushed before, and never tested."""
    bench.test(3, 1)

    assert covers(bench, 6, trigger=Trigger.MERGE) == [6]
    assert covers(bench, 6, trigger=Trigger.NIGHTLY) == [6]
    (note,) = bench.look(bench.job(6, 9, trigger=Trigger.MERGE)).notes
    assert "set --before-sha or --covers-shas" in note


# Servers and repositories of other kinds


def test_a_server_that_gives_only_its_branches_is_asked_for_them(tmp_path: Path) -> None:
    story = Story()
    story.branches["main"] = story.walk(0, 12)
    shas = story.made(tmp_path / "origin")
    clone = tmp_path / "clone"
    clone.mkdir()
    git(clone, "init", "--quiet")
    git(clone, "remote", "add", "origin", (tmp_path / "origin").as_uri())
    git(clone, "fetch", "--quiet", "--depth=1", "origin", shas[9])
    git(clone, "config", "protocol.version", "0")
    git(tmp_path / "origin", "config", "uploadpack.allowAnySHA1InWant", "false")
    bench = Bench(tmp_path, shas)

    job = bench.job(9, 1, base_sha=shas[4])
    found = under_test(job, Repository(clone), PastRuns(), nobody)

    assert said(bench, found) == (4, [5, 6, 7, 8, 9])


def test_a_repository_of_longer_hashes_is_read_as_well(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "--quiet", "--object-format=sha256")
    shas = []
    for name in ("a.c", "b.c"):
        (folder / name).write_text(name)
        git(folder, "add", name)
        git(folder, "commit", "--quiet", "-m", name)
        shas.append(git(folder, "rev-parse", "HEAD").strip())
    bench = Bench(tmp_path, dict(enumerate(shas, start=1)))

    job = bench.job(2, 1, base_sha=shas[0])
    found = under_test(job, Repository(folder), PastRuns(), nobody)

    assert found.changes is not None
    (item,) = found.changes.commits
    assert (item.sha, tuple(item.files)) == (shas[1], ("b.c",))
