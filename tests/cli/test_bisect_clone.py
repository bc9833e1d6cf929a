# SPDX-License-Identifier: Apache-2.0
"""Bisections of a clone whose runs say too little, or contradict each other: one clear line, and no
number.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.support.clones import Story, git

COMMITS = 6
RUNS = (6, 1, 1, 3, 3, 3, 5, 5, 5, 5, 5, 6)
"""The commits of the runs; the first run sends all changes since commit 1."""
TESTS = {
    "one_run": ("F", "Not enough data: no run of the period passed the test"),
    "all_failing": ("F  FFF     F", "Not enough data: no run of the period passed the test"),
    "none_failing": ("PP P  P     ", "Not enough data: no run of the period failed the test"),
    "good_fails": ("FF P  P", "The test fails on the good commit, too"),
    "mended_between": ("FPPFFFPPPPPF", "Results contradict each other"),
}
"""What each run gives, in their order; a space: it did not run the test."""


@pytest.fixture
def shas(tmp_path: Path) -> dict[int, str]:
    """A line of commits, cloned into the folder in which the commands run."""
    story = Story()
    story.branches["main"] = story.walk(0, COMMITS)
    made = dict(story.made(tmp_path / "origin"))
    git(tmp_path, "clone", "--quiet", (tmp_path / "origin").as_uri(), str(tmp_path / "new"))
    for path in (tmp_path / "new").iterdir():
        path.rename(tmp_path / path.name)
    return made


class Bench:
    """Runs and bisects one product."""

    def __init__(self, in_ci: Command, signed_in: Command, suite: str) -> None:
        self._in_ci, self._signed_in, self._suite = in_ci, signed_in, suite
        self._runs = 0

    def run(self, sha: str, base: str, outcomes: Mapping[str, str]) -> None:
        """Report a run, with the changes since another commit."""
        cases = "".join(
            f'<testcase classname="t" name="{test}" time="1">'
            f"{'<failure/>' if outcome == 'F' else ''}</testcase>"
            for test, outcome in outcomes.items()
        )
        Path("one.xml").write_text(f"<testsuite>{cases}</testsuite>")
        self._runs += 1
        flags = {
            "--repo-key": "acme/firmware",
            "--suite": self._suite,
            "--box": "bench-1",
            "--workflow": "hil",
            "--run-id": f"{self._runs}",
            "--branch": "main",
            "--sha": sha,
            "--base-sha": base,
            "--junit": "one.xml",
        }
        words = (word for flag in flags.items() for word in flag)
        done = self._in_ci("report-run", *words, "--strict")
        assert done.code == 0, done

    def refuses(self, command: str, test: str, good: str, bad: str) -> str:
        """Return why there is no answer."""
        product = f"acme/firmware:{self._suite}"
        flags = ("--product", product, "--good", good, "--bad", bad)
        code, out, err = self._signed_in("bisect", command, f"t.{test}", *flags)
        assert (code, out) == (1, ""), out
        return err.partition("cause: ")[2]


def test_runs_that_do_not_tell_get_one_clear_line(
    in_ci: Command, signed_in: Command, shas: dict[int, str]
) -> None:
    bench = Bench(in_ci, signed_in, "line")
    for number, commit in enumerate(RUNS):
        given = {test: results[number : number + 1] for test, (results, _) in TESTS.items()}
        ran = {test: result for test, result in given.items() if result.strip()}
        bench.run(shas[commit], shas[commit if number else 1], ran)

    ends = shas[1], shas[COMMITS]
    for test, (_, said) in TESTS.items():
        assert bench.refuses("next", test, *ends).startswith(said), test
    for command in ("start", "status"):
        assert bench.refuses(command, "one_run", *ends).startswith(TESTS["one_run"][1])
    for good, bad in (("0" * 40, ends[1]), (ends[0], "1" * 40)):
        said = bench.refuses("next", "one_run", good, bad)
        assert said.startswith("No run of the period tested the good or the bad commit")


def test_commits_that_a_rebase_parted_get_one_clear_line(
    in_ci: Command, signed_in: Command, tmp_path: Path, shas: dict[int, str]
) -> None:
    bench = Bench(in_ci, signed_in, "rebased")
    git(tmp_path, "checkout", "--quiet", "--detach", shas[3])
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "Rebased")
    rebased = git(tmp_path, "rev-parse", "HEAD").strip()
    bench.run(shas[5], shas[1], {"a": "P"})
    bench.run(rebased, shas[5], {"a": "F"})
    bench.run(shas[5], rebased, {"a": "P"})

    said = bench.refuses("next", "a", shas[5], rebased)

    assert said.startswith("No recorded changes lead from the good commit to the bad one")
