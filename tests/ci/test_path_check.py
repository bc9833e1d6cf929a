# SPDX-License-Identifier: Apache-2.0
"""What looks wrong about the patterns of a configuration, by the files that git tracks."""

from pathlib import Path

import pytest

from hwci.ci.git.path_check import PathCheck, Tracked, check_paths, tracked
from hwci.ci.git.repository import GitError, Repository
from hwci.wire.reports import SuiteConfiguration
from tests.support.clones import git

FILES = ("src/main.c", "src/a/b.c", "src/README.md", "hil/test.py", "hil/fw.c", "docs/x.md", "top")
COMMITS = (("src/main.c",), ("hil/test.py",), ("src/a/b.c", "hil/test.py"), ("docs/x.md", "top"))


def found(
    firmware: list[str], harness: list[str], commits: tuple[tuple[str, ...], ...] = COMMITS
) -> PathCheck:
    return check_paths([configured("s", firmware, harness)], Tracked(FILES, commits))


def configured(suite: str, firmware: list[str], harness: list[str]) -> SuiteConfiguration:
    return SuiteConfiguration(
        repo_key="r",
        suite=suite,
        firmware_paths=firmware,
        harness_paths=harness,
        merge_trigger=True,
    )


def warned(firmware: list[str], harness: list[str] | None = None) -> dict[str | None, str]:
    return {one.pattern: one.message for one in found(firmware, harness or []).warnings}


def test_patterns_that_fit_raise_no_suspicion() -> None:
    assert warned(["src/**", "!src/**/README.md"], ["hil/**"]) == {}


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("lib/**", "matches no file of the repository"),
        ("/src/**", "matches nothing: paths begin at the root without /; write src/**"),
        ("./src/**", "matches nothing: paths begin at the root without /; write src/**"),
        ("src", "matches nothing: it is a directory; write src/**"),
        ("src/a/", "matches nothing: it is a directory; write src/a/**"),
        ("!lib/**", "takes no file out of the list"),
        ("!docs/**", "takes no file out of the list"),
        (
            "!./src/README.md",
            "matches nothing: paths begin at the root without /; write !src/README.md",
        ),
    ],
)
def test_a_pattern_that_does_nothing_is_named_with_what_is_meant(
    pattern: str, message: str
) -> None:
    assert warned(["src/**", pattern]) == {pattern: message}


def test_a_pattern_that_others_before_it_cover_does_something_alone() -> None:
    assert warned(["**", "src/**", "src/main.c"]) == {}
    assert warned(["src/main.c", "src/**", "**", "!*/*.md", "!**/README.md", "!docs/x.md"]) == {}
    assert set(warned(["**", "src/**", "/src/**", "lib", "!**/*.md", "!lib"])) == {
        *("/src/**", "lib", "!lib"),
    }


def test_files_of_both_kinds_are_named() -> None:
    message = "firmware and harness at once are 2 of its files: hil/test.py, hil/fw.c"
    assert warned(["src/**", "hil/**"], ["hil/**"]) == {None: message}


def test_firmware_paths_that_never_change_are_suspicious() -> None:
    assert warned(["src/README.md"]) == {None: "none of the last 4 commits changed its firmware"}


def test_a_firmware_that_changes_along_with_the_harness_is_not_suspicious() -> None:
    assert found(["src/**"], ["hil/**"], (("src/main.c", "hil/fw.c"),)).warnings == []


def test_commits_are_counted_by_what_they_changed() -> None:
    (kinds,) = found(["src/**"], ["hil/**"]).products

    assert (kinds.firmware, kinds.harness, kinds.both, kinds.neither) == (1, 1, 1, 1)


def test_a_changed_file_is_known_when_it_is_of_some_product() -> None:
    products = [configured("a", ["src/**"], []), configured("b", ["hil/**"], [])]
    check = check_paths(products, Tracked(FILES, COMMITS))

    assert (check.commits, check.changed_files, check.known_files) == (4, 5, 3)
    assert [(one.directory, one.files) for one in check.neither] == [(".", 1), ("docs", 1)]


def test_what_git_tracks_is_seen_from_any_folder(tmp_path: Path) -> None:
    deep = tmp_path / "src" / "deep"
    deep.mkdir(parents=True)
    git(tmp_path, "init", "-q")
    assert tracked(Repository(tmp_path)) == Tracked((), ())
    for name in ("src/deep/caf\u00e9 1.c", "src/gone.c", "top.c"):
        (tmp_path / name).write_text(name)
        git(tmp_path, "add", name)
        git(tmp_path, "commit", "-q", "-m", name)
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "nothing")
    git(tmp_path, "rm", "-q", "src/gone.c")
    git(tmp_path, "commit", "-q", "-m", "gone")
    (tmp_path / "untracked.c").write_text("")

    seen = tracked(Repository(deep))
    assert sorted(seen.files) == ["src/deep/caf\u00e9 1.c", "top.c"]
    assert sorted(seen.commits) == [
        ("src/deep/caf\u00e9 1.c",),
        ("src/gone.c",),
        ("src/gone.c",),
        ("top.c",),
    ]


def test_a_clone_that_was_cut_does_not_invent_changes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    git(tmp_path / "a", "init", "-q")
    for name in ("1.c", "2.c"):
        (tmp_path / "a" / name).write_text(name)
        git(tmp_path / "a", "add", name)
        git(tmp_path / "a", "commit", "-q", "-m", name)
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path / 'a'}", "b")

    assert tracked(Repository(tmp_path / "b")) == Tracked(("1.c", "2.c"), ())


def test_outside_a_repository_nothing_can_be_seen(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not a git repository"):
        tracked(Repository(tmp_path))
