# SPDX-License-Identifier: Apache-2.0
"""Histories that a test makes up, as real repositories: written with `git fast-import`."""

import random
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FIRST_SECOND = 1_767_225_600
OF_ANOTHER_USER = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
"""With it git takes every checkout for another user's, as its own tests do: only root can give a
folder away.
"""
EMPTY: Mapping[bytes, tuple[str, bytes]] = {}

Tree = dict[bytes, tuple[str, bytes]]
"""Path → mode and content; the content of a submodule is the hash that it points to."""


def git(folder: Path, *words: str, given: bytes = b"", **environ: str) -> str:
    """Ask the git of this machine, with nobody's configuration."""
    settings = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "n",
        "GIT_AUTHOR_EMAIL": "n@example.org",
        "GIT_COMMITTER_NAME": "n",
        "GIT_COMMITTER_EMAIL": "n@example.org",
        "PATH": "/usr/bin:/bin:/usr/local/bin",
        "HOME": str(folder),
        **environ,
    }
    done = subprocess.run(
        ["git", "-c", "core.fsync=none", *words],  # no disk has to keep what a test makes up
        check=False,
        cwd=folder,
        input=given,
        capture_output=True,
        env=settings,
    )
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.decode(errors="replace")


@dataclass
class Story:
    """A history that grows commit by commit. A commit is named by its number, from 1."""

    seed: int = 0
    trees: dict[int, Tree] = field(default_factory=lambda: {0: {}})
    lines: list[bytes] = field(default_factory=list)
    branches: dict[str, int] = field(default_factory=dict)
    parents: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def commit(
        self,
        parents: Sequence[int],
        edits: Mapping[bytes, tuple[str, bytes] | None] = EMPTY,
        message: str = "",
    ) -> int:
        """Add a commit: its first parent's tree with edits; None removes a path."""
        number = len(self.trees)
        before = self.trees[parents[0]] if parents else {}
        after = dict(before)
        for path, entry in edits.items():
            if entry is None:
                after.pop(path, None)
            else:
                after[path] = entry
        self.trees[number] = after
        self.parents[number] = tuple(parents)
        self._write(number, parents, message or f"Commit {number}", before)
        return number

    def _write(self, number: int, parents: Sequence[int], message: str, before: Tree) -> None:
        result = message.encode()
        when = FIRST_SECOND + self.chance.randint(-9, 9) * 3_600  # clocks go as they like
        # Every commit stands on a ref of its own, so that none is dropped.
        self.lines += [
            f"commit refs/all/{number}\nmark :{number}".encode(),
            f"committer n <n@example.org> {when} +0000".encode(),
            b"data %d\n%s" % (len(result), result),
            *(
                f"{'merge' if place else 'from'} :{parent}".encode()
                for place, parent in enumerate(parents)
            ),
        ]
        after = self.trees[number]
        self.lines += [b"D " + quoted(path) for path in before if path not in after]
        for path, (mode, content) in after.items():
            if before.get(path) == (mode, content):
                continue
            if mode == "160000":
                self.lines.append(b"M 160000 %s %s" % (content, quoted(path)))
            else:
                self.lines.append(b"M %s inline %s" % (mode.encode(), quoted(path)))
                self.lines.append(b"data %d\n%s" % (len(content), content))
        self.lines.append(b"")

    def edit(self, parent: int) -> Mapping[bytes, tuple[str, bytes] | None]:
        """Make up edits of a tree."""
        edits: dict[bytes, tuple[str, bytes] | None] = {}
        for _ in range(self.chance.randint(1, 2)):
            folder = self.chance.choice(["fw", "fw/drivers", "tests", "docs"])
            path = f"{folder}/{self.chance.randint(0, 6)}.c".encode()
            gone = path in self.trees[parent] and self.chance.random() < 0.2
            edits[path] = None if gone else ("100644", self.chance.randbytes(6))
        return edits

    def walk(self, parent: int, many: int) -> int:
        """Add commits one after the other; gives the last."""
        for _ in range(many):
            parent = self.commit([parent] if parent else [], self.edit(parent))
        return parent

    def merge(self, parents: Sequence[int], *, settled: bool = False) -> int:
        """Merge: take each side's own changes; `settled`: something was written by hand, too."""
        edits: dict[bytes, tuple[str, bytes] | None] = {}
        first = self.trees[parents[0]]
        for parent in parents[1:]:
            side = self.trees[parent]
            edits |= {path: entry for path, entry in side.items() if path not in first}
        if settled:
            edits |= {b"fw/0.c": ("100644", self.chance.randbytes(6))}
        return self.commit(parents, edits)

    def made(self, folder: Path) -> Mapping[int, str]:
        """Write the history as a repository; gives the hash of each commit."""
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main")
        for setting in ("allowFilter", "allowAnySHA1InWant"):
            git(folder, "config", f"uploadpack.{setting}", "true")
        marks = folder / "marks"
        stream = b"\n".join(self.lines) + b"\ndone\n"
        git(folder, "fast-import", "--quiet", "--done", f"--export-marks={marks}", given=stream)
        rows = (line.split() for line in marks.read_text().splitlines())
        shas = {int(mark[1:]): sha for mark, sha in rows}
        for name, number in self.branches.items():
            git(folder, "update-ref", f"refs/heads/{name}", shas[number])
        own = git(folder, "for-each-ref", "--format=delete %(refname)", "refs/all/")
        git(folder, "update-ref", "--stdin", given=own.encode())
        return shas


def quoted(path: bytes) -> bytes:
    """Write a path as fast-import reads it: each byte that is not plain in octal."""
    return b'"%s"' % b"".join(
        bytes([byte]) if chr(byte).isalnum() and byte < 128 else b"\\%03o" % byte for byte in path
    )


Shape = Callable[[Story], Sequence[tuple[int, int]]]
"""Writes a history; gives (base, sha) to ask for, the base 0 for none."""


def linear(story: Story) -> Sequence[tuple[int, int]]:
    start = story.walk(0, 9)
    end = story.walk(start, 4)
    story.branches["main"] = end
    return [(start, end), (end - 1, end), (1, end)]


def merges(story: Story) -> Sequence[tuple[int, int]]:
    trunk = story.walk(0, 6)
    base = trunk
    for _ in range(4):
        fork = max(1, trunk - story.chance.randint(0, 4))
        side = story.walk(fork, story.chance.randint(1, 3))
        trunk = story.walk(trunk, story.chance.randint(0, 2))
        trunk = story.merge([trunk, side], settled=story.chance.random() < 0.5)
        base = base if story.chance.random() < 0.5 else trunk
    end = story.merge([story.walk(trunk, 1), story.walk(base, 2)])
    story.branches["main"] = end
    return [(base, end), (trunk, end)]


def short_cut(story: Story) -> Sequence[tuple[int, int]]:
    """A short way to what the base has by a long way: a cut clone sees the short one alone, and
    takes what the base had all along for new.
    """
    root = story.walk(0, 1)
    base = story.walk(root, 2)
    end = story.merge([story.walk(base, 48), root])  # at depth 50, the clone ends with the base
    story.branches["main"] = end
    return [(base, end)]


def random_graph(story: Story) -> Sequence[tuple[int, int]]:
    """Any graph: the next commit has any one, two or three before it."""
    size = story.chance.randint(5, 16)
    story.walk(0, 1)
    for number in range(2, size):
        many = story.chance.choice([1, 1, 1, 2, 2, 3])
        parents = story.chance.sample(range(1, number), min(many, number - 1))
        story.commit(parents, story.edit(parents[0]))
    end = story.merge([size - 1, story.chance.randint(1, size - 2)])
    story.branches["main"] = end
    return [(story.chance.randint(1, size - 1), end) for _ in range(3)]


def octopus(story: Story) -> Sequence[tuple[int, int]]:
    base = story.walk(0, 3)
    sides = [story.walk(base, many) for many in (1, 2, 3)]
    end = story.merge([story.walk(base, 1), *sides], settled=True)
    story.branches["main"] = end
    return [(base, end), (sides[0], end)]


def squash(story: Story) -> Sequence[tuple[int, int]]:
    base = story.walk(0, 3)
    side = story.walk(base, 4)
    differs = {path: story.trees[side].get(path) for path in {*story.trees[side], b"fw/0.c"}}
    end = story.commit([base], differs, "Squash of four")
    story.branches |= {"main": end, "side": side}
    return [(base, end), (side, end)]


def revert(story: Story) -> Sequence[tuple[int, int]]:
    base = story.walk(0, 3)
    bad = story.commit([base], {b"fw/bad.c": ("100644", b"bad")})
    undone = story.commit([bad], {b"fw/bad.c": None}, 'Revert "bad"')
    end = story.commit([undone], {b"fw/bad.c": ("100644", b"bad")}, 'Revert "Revert"')
    story.branches["main"] = end
    return [(base, end), (bad, undone)]


def renames(story: Story) -> Sequence[tuple[int, int]]:
    content = ("100644", b"long enough to be known again\n" * 20)
    base = story.commit([], {b"fw/a.c": content, b"tests/t.py": ("100644", b"t")})
    moved = story.commit([base], {b"fw/a.c": None, b"docs/a.c": content})
    mode = story.commit([moved], {b"docs/a.c": ("100755", content[1])})
    link = story.commit([mode], {b"tests/t.py": ("120000", b"../docs/a.c")})
    folder = story.commit([link], {b"tests/t.py": None, b"tests/t.py/x": ("100644", b"x")})
    story.branches["main"] = folder
    return [(base, folder), (base, moved)]


def force_push(story: Story) -> Sequence[tuple[int, int]]:
    start = story.walk(0, 4)
    dropped = story.walk(start, 3)
    end = story.walk(start, 2)
    story.branches["main"] = end
    return [(dropped, end), (start, end)]


def submodules(story: Story) -> Sequence[tuple[int, int]]:
    ignored = b'[submodule "s"]\n path = lib/s\n url = ../s\n ignore = all\n'
    one, two = (digit * 40 for digit in (b"1", b"2"))
    base = story.commit([], {b".gitmodules": ("100644", ignored), b"lib/s": ("160000", one)})
    moved = story.commit([base], {b"lib/s": ("160000", two)})
    gone = story.commit([moved], {b"lib/s": None, b"lib/s/own.c": ("100644", b"own")})
    story.branches["main"] = gone
    return [(base, gone), (base, moved)]


ODD_NAMES = (
    b"with space/a b.c",
    b'quote"d.c',
    b"new\nline.c",
    b"tab\there.c",
    "größe/ß.c".encode(),
    "größe/ß.c".encode("latin-1"),
    b":100644 000000 colon.c",
    b"a" * 40,
    b"\\back\\slash.c",
    b"-rf",
    b"\xed\xa0\x80.c",
    "emoji/🔥.c".encode(),
    b"glob*?[x].c",
    b" ",
)


def odd_names(story: Story) -> Sequence[tuple[int, int]]:
    base = story.walk(0, 1)
    parent = base
    for name in ODD_NAMES:
        parent = story.commit([parent], {name: ("100644", name)}, f"Add {name!r}")
    end = story.commit([parent], dict.fromkeys(ODD_NAMES, ("100644", b"all")))
    story.branches["main"] = end
    return [(base, end)]


def long_range(story: Story) -> Sequence[tuple[int, int]]:
    base = story.walk(0, 2)
    side = story.walk(base, 60)
    trunk = story.walk(base, 220)
    end = story.walk(story.merge([trunk, side]), 20)
    story.branches["main"] = end
    return [(base, end), (trunk - 100, end)]


def many_files(story: Story) -> Sequence[tuple[int, int]]:
    base = story.walk(0, 1)
    wide = {b"fw/%04d.c" % number: ("100644", b"x") for number in range(2_500)}
    end = story.walk(story.commit([base], wide), 1)
    story.branches["main"] = end
    return [(base, end)]


def empty_commits(story: Story) -> Sequence[tuple[int, int]]:
    base = story.commit([], {}, "Empty root")
    end = story.commit([story.commit([base])], {}, "\n\n  Late subject  \n\nbody")
    story.branches["main"] = end
    return [(base, end)]


def orphans(story: Story) -> Sequence[tuple[int, int]]:
    first = story.walk(0, 3)
    other = story.commit([], {b"docs/page.html": ("100644", b"page")})
    joined = story.merge([story.walk(first, 1), story.walk(other, 2)])
    story.branches |= {"main": joined, "pages": other}
    return [(first, joined), (other, joined), (other, first)]


SHAPES: tuple[Shape, ...] = (
    linear,
    merges,
    short_cut,
    random_graph,
    octopus,
    squash,
    revert,
    renames,
    force_push,
    submodules,
    odd_names,
    long_range,
    many_files,
    empty_commits,
    orphans,
)
