# SPDX-License-Identifier: Apache-2.0
"""On histories of every shape, from clones cut in every way: what is collected is what the whole
repository says, or openly less. Never is something else said (semantics, 6.6).
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hwci.ci.git.changes import collect, covered
from hwci.ci.git.repository import Repository
from hwci.wire.reports import Changes, CommitItem
from tests.ci.history_oracle import Oracle
from tests.support.clones import SHAPES, Shape, Story, git, random_graph
from tests.support.soak import rounds

ALL = "+refs/heads/*:refs/remotes/origin/*"
CLONES: Mapping[str, tuple[str, ...]] = {
    "full": (),
    "depth-1": ("--depth=1",),
    "depth-2": ("--depth=2",),
    "depth-50": ("--depth=50",),
    "blobless": ("--filter=blob:none",),
    "treeless": ("--filter=tree:0",),
    "blobless-depth-2": ("--filter=blob:none", "--depth=2"),
}
CUT = rounds(
    # Of two that lack the same, the one that lacks more.
    ("depth-1", "treeless", "depth-2", "blobless-depth-2"),
    tuple(name for name in CLONES if name != "full"),
)
OF_A_SHAPE = rounds(2, len(CUT))
"""In how many of these ways each shape is cut; the next shape in the next ones."""
SEEDS = range(rounds(1, 4))


@dataclass
class Scene:
    origin: Path
    oracle: Oracle
    shas: Mapping[int, str]
    asked: list[tuple[int, int]]
    cut: Sequence[str]
    made: dict[tuple[str, tuple[str, ...]], Path] = field(default_factory=dict)

    def clone(self, folder: Path, sha: str, options: tuple[str, ...], *, reachable: bool) -> Path:
        """Return a clone of its own, fetched once for all tests that ask for such a one."""
        if (sha, options) not in self.made:
            new = self.origin.parent / f"clone-{len(self.made)}"
            self.made[sha, options] = self._cloned(new, sha, options)
        shutil.copytree(self.made[sha, options], folder)
        if not reachable:
            config = folder / ".git" / "config"
            config.write_text(config.read_text().replace("file:///", "file:///nowhere/"))
        return folder

    def _cloned(self, folder: Path, sha: str, options: tuple[str, ...]) -> Path:
        """Clone as the checkout step of a CI does: only what is asked for."""
        folder.mkdir()
        git(folder, "init", "--quiet", "--template=")
        config = folder / ".git" / "config"
        lines = [
            "[core]",
            "fsync = none",
            '[remote "origin"]',
            f"url = {self.origin.as_uri()}",
            f"fetch = {ALL}",
        ]
        kept = [option.partition("=")[2] for option in options if option.startswith("--filter")]
        lines += [f"promisor = true\npartialclonefilter = {name}" for name in kept]
        config.write_text(config.read_text() + "\n".join(lines) + "\n")
        wanted = (sha,) if options else (ALL, sha)
        git(folder, "fetch", "--quiet", "--no-tags", *options, "origin", *wanted)
        return folder


def scene_of(shape: Shape, seed: int, folder: Path) -> Scene:
    story = Story(seed)
    asked = list(shape(story))
    shas = story.made(folder)
    first = SHAPES.index(shape)
    cut = [CUT[(first + step) % len(CUT)] for step in range(OF_A_SHAPE)]
    return Scene(folder, Oracle(folder), shas, asked, cut)


@pytest.fixture(scope="module", params=SHAPES, ids=lambda shape: str(shape.__name__))
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return scene_of(request.param, 1, tmp_path_factory.mktemp("shape") / "origin")


def questions(scene: Scene) -> Iterator[tuple[str, str]]:
    for base, sha in scene.asked:
        yield scene.shas[base], scene.shas[sha]


def fault_of(scene: Scene, changes: Changes, base: str, sha: str) -> str | None:
    """Return what is wrong with changes; empty if nothing is."""
    if changes.base_sha is None:
        if [item.sha for item in changes.commits] != [sha]:
            return "without a base, something else is listed than the commit"
    elif changes.base_sha != base or base not in scene.oracle.ancestors(sha):
        return "the base is not the base"
    elif fault := _range_fault(scene, changes, base, sha):
        return fault
    return next((fault for item in changes.commits if (fault := _fault(scene, item))), None)


def _range_fault(scene: Scene, changes: Changes, base: str, sha: str) -> str | None:
    sent = [item.sha for item in changes.commits]
    whole = scene.oracle.after(base, sha)
    left_out = whole - set(sent)
    parents = {commit: scene.oracle.parents(commit) for commit in sent}
    if len(set(sent)) != len(sent) or not set(sent) <= whole or sent[-1:] != [sha]:
        return "commits are listed that are not in the range"
    if any(parent in sent[place:] for place, one in enumerate(sent) for parent in parents[one]):
        return "a commit stands before its parent"
    if bool(changes.truncated) != bool(left_out):
        return "commits are lacking in silence, or said to be lacking"
    if left_out and len(sent) != 250:
        return "more was left out than had to be"
    newer = {commit for commit in left_out if scene.oracle.ancestors(commit) & set(sent)}
    return "not the newest were kept" if newer else None


def _fault(scene: Scene, item: CommitItem) -> str | None:
    files = scene.oracle.files(item.sha)
    texts = {path.decode("utf-8", "replace") for path in files}
    exact = texts == {path.decode("utf-8", "ignore") for path in files}
    if item.subject != scene.oracle.subject(item.sha) or item.committed_at is None:
        return "the commit is not the right one"
    if not set(item.files) <= texts or len(item.files) > 2_000:
        return f"{sorted(set(item.files) - texts)} are not files of the commit"
    if not item.files_truncated and (set(item.files) != texts or not exact):
        return f"{sorted(texts - set(item.files))} are lacking in silence"
    return None


def is_ancestor(scene: Scene, base: str, sha: str) -> bool:
    return base in scene.oracle.ancestors(sha)


def has_more_to_tell(scene: Scene, item: CommitItem) -> bool:
    """Too many files, a name that is not text, or a submodule that no clone has checked out."""
    files = scene.oracle.files(item.sha)
    odd = any("\ufffd" in name.decode("utf-8", "replace") for name in files)
    return len(files) > 2_000 or odd or b"lib/s" in files


@pytest.mark.parametrize("number", range(OF_A_SHAPE + 1))
def test_with_a_remote_every_clone_gives_what_the_whole_repository_says(
    scene: Scene, number: int, tmp_path: Path
) -> None:
    kind = ("full", *scene.cut)[number]
    for place, (base, sha) in enumerate(questions(scene)):
        clone = scene.clone(tmp_path / str(place), sha, CLONES[kind], reachable=True)

        changes = collect(Repository(clone), sha, base).changes

        assert changes is not None
        assert fault_of(scene, changes, base, sha) is None
        assert (changes.base_sha == base) is is_ancestor(scene, base, sha)
        if changes.base_sha is not None:
            for item in changes.commits:
                assert item.files_truncated == has_more_to_tell(scene, item)


@pytest.mark.parametrize("number", range(OF_A_SHAPE))
def test_without_a_remote_a_cut_clone_says_what_it_knows_and_nothing_else(
    scene: Scene, number: int, tmp_path: Path
) -> None:
    kind = scene.cut[number]
    for place, (base, sha) in enumerate(questions(scene)):
        clone = scene.clone(tmp_path / str(place), sha, CLONES[kind], reachable=False)

        collected = collect(Repository(clone), sha, base)

        assert collected.changes is not None
        assert fault_of(scene, collected.changes, base, sha) is None
        if collected.changes.base_sha is None:
            assert collected.notes != ()


@pytest.mark.parametrize("seed", SEEDS)
def test_any_graph_cut_anywhere_gives_the_range_or_null(seed: int, tmp_path: Path) -> None:
    scene = scene_of(random_graph, 100 + seed, tmp_path / "origin")
    exact = 0
    for depth in range(1, 6):
        for place, (base, sha) in enumerate(questions(scene)):
            clone = scene.clone(
                tmp_path / f"{depth}-{place}", sha, (f"--depth={depth}",), reachable=False
            )

            changes = collect(Repository(clone), sha, base).changes

            assert changes is not None
            assert fault_of(scene, changes, base, sha) is None
            exact += changes.base_sha is not None
    assert exact > 0


@pytest.mark.parametrize("retouch", ["replaced", "grafted"])
def test_a_history_with_local_replacements_is_reported_as_everyone_has_it(
    retouch: str, tmp_path: Path
) -> None:
    scene = scene_of(SHAPES[0], 1, tmp_path / "origin")
    base, sha = next(questions(scene))
    clone = scene.clone(tmp_path / "clone", sha, (), reachable=True)
    inside = scene.oracle.parents(sha)[0]
    if retouch == "replaced":
        git(clone, "replace", "--graft", inside)
    else:
        (clone / ".git" / "info").mkdir()
        (clone / ".git" / "info" / "grafts").write_text(f"{inside}\n")

    changes = collect(Repository(clone), sha, base).changes

    assert changes is not None
    assert fault_of(scene, changes, base, sha) is None
    assert changes.base_sha == base


def test_the_commits_of_a_push_are_those_that_it_brought(scene: Scene, tmp_path: Path) -> None:
    for place, (before, sha) in enumerate(questions(scene)):
        clone = scene.clone(tmp_path / str(place), sha, ("--depth=2",), reachable=True)

        shas = covered(Repository(clone), before, sha)

        if not is_ancestor(scene, before, sha):
            assert shas is None
            continue
        assert shas is not None
        assert set(shas) == scene.oracle.after(before, sha)
        assert shas[-1] == sha
