# SPDX-License-Identifier: Apache-2.0
"""The commits of a release, as a clone has them: by a range, or by one commit."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from hwci.ci.reporting import Released, read_released
from hwci.client.explained import ExitCode, ExplainedError
from tests.support.clones import Story, git

PROJECT = """
[[product]]
suite = "hil"
firmware_paths = ["fw/**"]
harness_paths = ["tests/**"]
trigger_paths = ["fw/**"]

[[product]]
suite = "nightly"
firmware_paths = ["fw/**"]
harness_paths = ["tests/**"]
merge_trigger = false
"""


def file(path: str) -> dict[bytes, tuple[str, bytes]]:
    return {path.encode(): ("100644", b"x")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapping[int, str]]:
    """Commits 1 and 2 of main, 3 and 4 beside it, 5 the merge of 4, 6 documentation, 7 the hotfix
    of 2 on a branch of its own.
    """
    story = Story()
    story.commit([], file("fw/1.c"))
    story.commit([1], file("fw/2.c"))
    story.commit([2], file("fw/3.c"))
    story.commit([3], file("fw/4.c"))
    story.commit([2, 4], file("fw/4.c"))
    story.commit([5], file("docs/6.md"))
    story.commit([2], file("fw/7.c"))
    story.branches |= {"main": 6, "hotfix": 7}
    folder = tmp_path_factory.mktemp("released") / "origin"
    return folder, story.made(folder)


@pytest.fixture
def clone(tmp_path: Path, made: tuple[Path, Mapping[int, str]]) -> Path:
    git(tmp_path, "clone", "--quiet", made[0].as_uri(), "clone")
    return tmp_path / "clone"


def numbers(read: Released, made: tuple[Path, Mapping[int, str]]) -> tuple[set[int], list[int]]:
    """Return the numbers of all commits, and of those that stood on the branch itself."""
    by_sha = {sha: number for number, sha in made[1].items()}
    return {by_sha[sha] for sha in read.commits}, [by_sha[sha] for sha in read.line]


def test_a_range_is_what_the_later_commit_has_and_the_earlier_has_not(
    clone: Path, made: tuple[Path, Mapping[int, str]]
) -> None:
    shas = made[1]
    read = read_released(clone, f"{shas[2]}..main", None)

    assert numbers(read, made) == ({3, 4, 5, 6}, [5, 6])
    assert read.tip == shas[6]
    assert [read.holds(shas[number]) for number in (1, 4, 6, 7)] == [True, True, True, False]
    assert (read.holds("f" * 40), read.holds("f" * 7)) == (False, None)


def test_the_earlier_release_may_stand_on_a_branch_of_its_own(
    clone: Path, made: tuple[Path, Mapping[int, str]]
) -> None:
    assert numbers(read_released(clone, "origin/hotfix..main", None), made)[0] == {3, 4, 5, 6}
    assert numbers(read_released(clone, "main..origin/hotfix", None), made)[0] == {7}


def test_one_commit_is_what_it_brought_to_its_branch(
    clone: Path, made: tuple[Path, Mapping[int, str]]
) -> None:
    shas = made[1]

    assert numbers(read_released(clone, None, shas[5]), made) == ({3, 4, 5}, [5])
    assert numbers(read_released(clone, None, shas[1]), made) == ({1}, [1])


def test_a_commit_had_to_be_announced_if_hwci_toml_says_so(
    clone: Path, made: tuple[Path, Mapping[int, str]]
) -> None:
    def starting(suite: str | None) -> list[int]:
        read = read_released(clone, None, "main~1")
        whole = read_released(clone, f"{made[1][1]}..main", None)
        by_sha = {sha: number for number, sha in made[1].items()}
        assert read.starts(read.tip, suite) == whole.starts(read.tip, suite)
        return [by_sha[sha] for sha in whole.line if whole.starts(sha, suite)]

    assert starting(None) == [2, 5, 6]
    (clone / "hwci.toml").write_text(PROJECT)
    assert starting(None) == starting("hil") == [2, 5]
    assert starting("nightly") == []
    assert starting("elsewhere") == [2, 5, 6]


@pytest.mark.parametrize(
    ("commits", "said"),
    [
        ("main", "not of the form"),
        ("..main", "not of the form"),
        ("main..", "not of the form"),
        ("v1...main", "not of the form"),
        ("v9..main", "knows no commit 'v9'"),
        ("main..v9", "knows no commit 'v9'"),
        ("main..--all", "knows no commit '--all'"),
        ("main..main", "holds no commit"),
        ("main..main~1", "holds no commit"),
    ],
)
def test_a_range_that_git_does_not_know_is_wrong_usage(
    clone: Path, commits: str, said: str
) -> None:
    with pytest.raises(ExplainedError) as fault:
        read_released(clone, commits, None)

    assert fault.value.message.code is ExitCode.USAGE
    assert said in fault.value.message.cause


def test_a_shallow_clone_is_refused_where_it_hides_a_part(
    tmp_path: Path, made: tuple[Path, Mapping[int, str]]
) -> None:
    folder, shas = made
    for depth in ("1", "2"):
        git(tmp_path, "clone", "--quiet", f"--depth={depth}", folder.as_uri(), depth)
    one, two = tmp_path / "1", tmp_path / "2"

    for clone, commits in ((one, f"{shas[2]}..main"), (two, f"{shas[2]}..main"), (one, None)):
        with pytest.raises(ExplainedError) as fault:
            read_released(clone, commits, None if commits else "main")
        assert fault.value.message.code is ExitCode.USAGE
        assert "shallow" in fault.value.message.cause
        assert "fetch-depth: 0" in fault.value.message.fix
    read = read_released(two, "main~1..main", None)
    assert numbers(read, made) == ({6}, [6])
    assert (read.holds(shas[5]), read.holds(shas[1])) == (True, None)


def test_a_folder_without_a_repository_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(ExplainedError) as fault:
        read_released(tmp_path, "v1..v2", None)

    assert "not a git repository" in fault.value.message.cause
