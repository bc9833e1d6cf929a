# SPDX-License-Identifier: Apache-2.0
"""A commit that moves a submodule, or a project of a west workspace, counts with the files that
changed inside (semantics, 6.7). All repositories are real; the oracle is `git diff` in each.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from hwci.ci.git.changes import Push, collect, touched
from hwci.ci.git.repository import Repository
from hwci.wire.reports import CommitItem
from tests.support.clones import git


def commit(folder: Path, files: Mapping[str, str | None]) -> str:
    """Write files, None: remove one, and commit them; return the hash."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "--quiet", "--initial-branch=main")
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.unlink()
        else:
            path.write_text(content)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=change")
    return git(folder, "rev-parse", "HEAD").strip()


def checkout(folder: Path, sha: str) -> None:
    git(folder, "checkout", "--quiet", "--detach", sha)


def reported(folder: Path, base: str, sha: str) -> CommitItem:
    """Return what a report holds of the last commit."""
    changes = collect(Repository(folder), sha, base).changes
    assert changes is not None
    return changes.commits[-1]


def notes(folder: Path, base: str, sha: str) -> str:
    return " ".join(collect(Repository(folder), sha, base).notes)


@pytest.fixture
def hal(tmp_path: Path) -> tuple[Path, str, str]:
    """A module at two commits."""
    folder = tmp_path / "hal"
    first = commit(folder, {"src/adc.c": "1", "src/dma.c": "1", "README.md": "1"})
    second = commit(folder, {"src/adc.c": "2", "src/new.c": "1", "README.md": None})
    return folder, first, second


INSIDE = ["lib/hal/README.md", "lib/hal/src/adc.c", "lib/hal/src/new.c"]


class TestSubmodules:
    @pytest.fixture
    def moved(self, tmp_path: Path, hal: tuple[Path, str, str]) -> tuple[Path, str, str]:
        """A firmware whose last commit moves a submodule."""
        module, first, second = hal
        firmware = tmp_path / "firmware"
        commit(firmware, {"main.c": "1"})
        shutil.copytree(module, firmware / "lib/hal")
        checkout(firmware / "lib/hal", first)
        base = commit(firmware, {})
        checkout(firmware / "lib/hal", second)
        return firmware, base, commit(firmware, {"main.c": "2"})

    def test_the_files_inside_count_by_their_paths(self, moved: tuple[Path, str, str]) -> None:
        item = reported(*moved)

        assert item.files == ["lib/hal", "main.c", *INSIDE]
        assert not item.files_truncated

    def test_one_that_is_new_or_gone_counts_with_all_files(
        self, moved: tuple[Path, str, str]
    ) -> None:
        firmware, _, sha = moved
        git(firmware, "rm", "--quiet", "--cached", "lib/hal")
        git(firmware, "commit", "--quiet", "--message=gone")
        gone = git(firmware, "rev-parse", "HEAD").strip()
        every = ["lib/hal/src/adc.c", "lib/hal/src/dma.c", "lib/hal/src/new.c"]

        assert reported(firmware, sha, gone).files == ["lib/hal", *every]

    def test_without_its_clone_the_list_is_cut_and_it_is_said_why(
        self, moved: tuple[Path, str, str]
    ) -> None:
        shutil.rmtree(moved[0] / "lib/hal")
        item = reported(*moved)

        assert item.files == ["lib/hal", "main.c"]
        assert item.files_truncated
        assert "lib/hal, which it moved, is not checked out here: sent as cut" in notes(*moved)

    @pytest.mark.parametrize("options", [("--depth=1",), ("--filter=tree:0", "--no-checkout")])
    def test_what_its_clone_lacks_is_not_fetched(
        self,
        moved: tuple[Path, str, str],
        hal: tuple[Path, str, str],
        options: tuple[str, ...],
    ) -> None:
        place = moved[0] / "lib/hal"
        shutil.rmtree(place)
        git(hal[0], "config", "uploadpack.allowFilter", "true")
        git(hal[0], "config", "uploadpack.allowAnySHA1InWant", "true")
        git(moved[0], "clone", "--quiet", *options, f"file://{hal[0]}", str(place))
        before = git(place, "count-objects", "-v")

        assert reported(*moved).files_truncated
        assert "what changed in lib/hal, which it moved, is unknown" in notes(*moved)
        assert git(place, "count-objects", "-v") == before

    def test_a_merge_counts_with_what_differs_from_each_parent(
        self, moved: tuple[Path, str, str]
    ) -> None:
        firmware, base, sha = moved
        module = firmware / "lib/hal"
        second = git(module, "rev-parse", "HEAD").strip()
        git(firmware, "checkout", "--quiet", "-b", "side", base)
        checkout(module, f"{second}~1")
        commit(module, {"side.c": "1"})
        side = commit(firmware, {})
        git(firmware, "checkout", "--quiet", "-b", "both", sha)
        checkout(module, second)
        tree = git(module, "rev-parse", "HEAD").strip()
        merged = commit(module, {"side.c": "1", "settled.c": "1"})
        git(firmware, "add", "--all")
        written = git(firmware, "write-tree").strip()
        merge = git(firmware, "commit-tree", written, "-p", sha, "-p", side, "-m", "m").strip()

        assert merged != tree
        # side.c is as on the side, what the second commit changed as on main.
        assert reported(firmware, base, merge).files == ["lib/hal", "lib/hal/settled.c"]

    def test_a_module_inside_of_a_module_counts_alike(
        self, tmp_path: Path, hal: tuple[Path, str, str]
    ) -> None:
        module, first, second = hal
        outer, firmware = tmp_path / "outer", tmp_path / "firmware"
        commit(outer, {"outer.c": "1"})
        shutil.copytree(module, outer / "hal")
        checkout(outer / "hal", first)
        commit(outer, {})
        commit(firmware, {"main.c": "1"})
        shutil.copytree(outer, firmware / "outer")
        base = commit(firmware, {})
        checkout(firmware / "outer/hal", second)
        commit(firmware / "outer", {})
        sha = commit(firmware, {})

        assert reported(firmware, base, sha).files == [
            "outer",
            *("outer/hal", "outer/hal/README.md", "outer/hal/src/adc.c", "outer/hal/src/new.c"),
        ]

    def test_a_path_that_leads_out_of_the_repository_is_not_read(
        self, moved: tuple[Path, str, str], hal: tuple[Path, str, str]
    ) -> None:
        place = moved[0] / "lib/hal"
        shutil.rmtree(place)
        place.symlink_to(hal[0])

        assert reported(*moved).files == ["lib/hal", "main.c"]

    def test_a_merge_is_announced_by_the_files_inside(self, moved: tuple[Path, str, str]) -> None:
        firmware, base, sha = moved

        assert set(INSIDE) < {*touched(Repository(firmware), sha, Push(before=base))}


def manifest(**revisions: str) -> str:
    """Return a west manifest of projects that stand at revisions."""
    rows = "".join(
        f"    - {{name: {name}, url: https://x.example/{name}, path: lib/{name}, "
        f"revision: {revision}}}\n"
        for name, revision in revisions.items()
    )
    return f"manifest:\n  projects:\n{rows}  self: {{path: app}}\n"


class TestWest:
    @pytest.fixture
    def app(self, tmp_path: Path, hal: tuple[Path, str, str]) -> Path:
        """The manifest repository of a workspace, in which the module is a project."""
        app = tmp_path / "workspace" / "app"
        (tmp_path / "workspace" / ".west").mkdir(parents=True)
        config = "[manifest]\npath = app\nfile = west.yml\n"
        (tmp_path / "workspace" / ".west" / "config").write_text(config)
        shutil.copytree(hal[0], tmp_path / "workspace" / "lib" / "hal")
        return app

    def test_the_files_of_a_project_that_it_moves_count(
        self, app: Path, hal: tuple[Path, str, str]
    ) -> None:
        base = commit(app, {"west.yml": manifest(hal=hal[1])})
        sha = commit(app, {"west.yml": manifest(hal=hal[2]), "main.c": "1"})
        item = reported(app, base, sha)

        assert item.files == ["main.c", "west.yml", *INSIDE]
        assert not item.files_truncated

    def test_a_tag_is_a_revision_and_a_branch_is_not(
        self, app: Path, hal: tuple[Path, str, str]
    ) -> None:
        module = app.parent / "lib" / "hal"
        git(module, "tag", "v1", hal[1])
        git(module, "tag", "v2", hal[2])
        first = commit(app, {"west.yml": manifest(hal="v1")})
        second = commit(app, {"west.yml": manifest(hal="v2")})
        third = commit(app, {"west.yml": manifest(hal="main")})

        assert reported(app, first, second).files == ["west.yml", *INSIDE]
        assert reported(app, second, third).files_truncated
        assert "the clone there has no commit or tag main" in notes(app, second, third)

    def test_a_manifest_that_moves_nothing_is_a_file(
        self, app: Path, hal: tuple[Path, str, str]
    ) -> None:
        revisions = {"hal": hal[1], "not_here": "main"}
        base = commit(app, {"west.yml": manifest(**revisions)})
        sha = commit(app, {"west.yml": manifest(**revisions) + "# a comment\n"})

        assert reported(app, base, sha).files == ["west.yml"]
        assert not reported(app, base, sha).files_truncated

    def test_what_an_imported_manifest_moves_counts(
        self, app: Path, hal: tuple[Path, str, str]
    ) -> None:
        zephyr = app.parent / "zephyr"
        old = commit(zephyr, {"west.yml": manifest(hal=hal[1]), "kernel.c": "1"})
        new = commit(zephyr, {"west.yml": manifest(hal=hal[2]), "kernel.c": "2"})
        base = commit(app, {"west.yml": importing(old)})
        sha = commit(app, {"west.yml": importing(new)})

        assert sorted(reported(app, base, sha).files) == sorted(
            ["west.yml", "zephyr/kernel.c", "zephyr/west.yml", *INSIDE]
        )

    def test_manifests_that_import_each_other_end(self, app: Path) -> None:
        zephyr = app.parent / "zephyr"
        old = commit(zephyr, {"west.yml": importing("main"), "kernel.c": "1"})
        new = commit(zephyr, {"west.yml": importing("main"), "kernel.c": "2"})
        base = commit(app, {"west.yml": importing(old)})
        sha = commit(app, {"west.yml": importing(new)})

        assert reported(app, base, sha).files == ["west.yml", "zephyr/kernel.c"]

    def test_a_project_that_went_to_another_path_is_gone_and_new(
        self, app: Path, hal: tuple[Path, str, str]
    ) -> None:
        old = manifest(hal=hal[2])
        base = commit(app, {"west.yml": old})
        sha = commit(app, {"west.yml": old.replace("lib/hal", "drivers/hal")})
        shutil.copytree(hal[0], app.parent / "drivers" / "hal")
        names = ("src/adc.c", "src/dma.c", "src/new.c")

        assert reported(app, base, sha).files == [
            "west.yml",
            *(f"drivers/hal/{name}" for name in names),
            *(f"lib/hal/{name}" for name in names),
        ]

    @pytest.mark.parametrize(
        ("written", "why"),
        [
            ("manifest: [", "west cannot read it"),
            ("[" * 5_000, "west cannot read it"),
            ("manifest: {version: '99.0'}", "west cannot read it"),
            ("manifest:\n  self: {import: more.yml}\n", "west cannot read it"),
            ("manifest:\n  projects: [{name: z, url: https://x.example/z, import: true}]", "z, an"),
            ("\xff", "west cannot read it"),
            ("#" * 4_194_305, "a manifest of 4,194,305 bytes is not read"),
        ],
    )
    def test_a_manifest_that_cannot_be_read_cuts_the_list(
        self, app: Path, hal: tuple[Path, str, str], written: str, why: str
    ) -> None:
        base = commit(app, {"west.yml": manifest(hal=hal[1])})
        sha = commit(app, {"west.yml": written})

        assert reported(app, base, sha).files == ["west.yml"]
        assert reported(app, base, sha).files_truncated
        assert why in notes(app, base, sha)

    def test_a_manifest_of_another_workspace_is_a_file(
        self, app: Path, hal: tuple[Path, str, str]
    ) -> None:
        (app.parent / ".west" / "config").write_text("[manifest]\npath = other\n")
        base = commit(app, {"west.yml": manifest(hal=hal[1])})
        sha = commit(app, {"west.yml": manifest(hal=hal[2])})

        assert reported(app, base, sha).files == ["west.yml"]
        assert not reported(app, base, sha).files_truncated


def importing(revision: str) -> str:
    """Return a west manifest that imports that of a project."""
    return (
        "manifest:\n  projects:\n    - {name: zephyr, url: https://x.example/zephyr, "
        f"revision: {revision}, import: true}}\n  self: {{path: app}}\n"
    )
