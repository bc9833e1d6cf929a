# SPDX-License-Identifier: Apache-2.0
"""This module decides what is true in a made-up repository: commits, their files, and bugs.

It knows no run and no report; CI may report something else about these commits.
"""

import random
from dataclasses import dataclass, field
from datetime import datetime

FIRMWARE_FILES = ["src/main.c", "src/drivers/uart.c", "boards/a/pins.c"]
HARNESS_FILES = ["hil/run.py", "hil/lib/bench.py", ".ci/hw.yml"]
BOTH_FILES = ["shared/pins.h", "shared/deep/er/map.h"]
OTHER_FILES = ["README.md", "docs/a/guide.md", "src/NOTES.md"]

FILES_BY_KIND = {
    "firmware": [FIRMWARE_FILES],
    "harness": [HARNESS_FILES],
    "mixed": [FIRMWARE_FILES, HARNESS_FILES],
    "both": [BOTH_FILES],
    "other": [OTHER_FILES],
    "harness and other": [HARNESS_FILES, OTHER_FILES],
    "nothing": [],
}
KIND_WEIGHTS = [46, 11, 8, 6, 20, 4, 5]


@dataclass(frozen=True)
class Node:
    sha: str
    subject: str
    at: datetime
    files: tuple[str, ...]
    parents: tuple[str, ...]


@dataclass
class Bug:
    """A test fails on every commit that has the bug and none of its fixes."""

    test: str
    box: str | None
    born: str
    fixes: set[str] = field(default_factory=set)


class Graph:
    """The commits of one repository, their branches and their bugs."""

    def __init__(self, rng: random.Random, tests: list[str], boxes: list[str]) -> None:
        self.rng = rng
        self.tests = tests
        self.boxes = boxes
        self.nodes: dict[str, Node] = {}
        self.tips: dict[str, str] = {}
        self.bugs: list[Bug] = []
        # Every other commit is broken: many short groups side by side, which a lost pass joins.
        self.seesaw = rng.random() < 0.25

    def commit(self, branch: str, at: datetime) -> str:
        """Add a commit, which may add bugs and fix some that its branch has."""
        kind = self.rng.choices(list(FILES_BY_KIND), KIND_WEIGHTS)[0]
        files = tuple(self.rng.choice(pool) for pool in FILES_BY_KIND[kind])
        parents = (self.tips[branch],) if branch in self.tips else ()
        sha = self._add(kind, at, files, parents)
        self.tips[branch] = sha
        had = self.bugs_in(parents[0]) if parents else []
        for bug in had:
            if self.rng.random() < 0.45:
                bug.fixes.add(sha)
        if self.rng.random() < (0.1 if kind in ("other", "nothing") else 0.45):
            box = self.rng.choice([None, None, *self.boxes])
            self.bugs.append(Bug(self.rng.choice(self.tests), box, sha))
        return sha

    def branch_off(self, branch: str, source: str) -> None:
        self.tips[branch] = self.tips[source]

    def merge(self, topic: str, into: str, at: datetime) -> str:
        """Add a merge commit, which lists its conflicting files only."""
        conflict = (self.rng.choice(FIRMWARE_FILES),) if self.rng.random() < 0.2 else ()
        parents = (self.tips[into], self.tips[topic])
        self.tips[into] = self._add(f"Merge {topic}", at, conflict, parents)
        return self.tips[into]

    def _add(
        self, subject: str, at: datetime, files: tuple[str, ...], parents: tuple[str, ...]
    ) -> str:
        sha = f"{self.rng.getrandbits(160):040x}"
        self.nodes[sha] = Node(sha, f"{len(self.nodes)}: {subject}", at, files, parents)
        return sha

    def ancestors(self, sha: str) -> set[str]:
        """A commit and everything before it."""
        found: set[str] = set()
        open_ends = [sha]
        while open_ends:
            one = open_ends.pop()
            if one not in found:
                found.add(one)
                open_ends += self.nodes[one].parents
        return found

    def between(self, base: str | None, tip: str) -> list[Node]:
        """The commits after `base` up to and including `tip`, parents before children."""
        missing = self.ancestors(tip) - (self.ancestors(base) if base else set())
        return [node for sha, node in self.nodes.items() if sha in missing]

    def bugs_in(self, sha: str) -> list[Bug]:
        held = self.ancestors(sha)
        return [bug for bug in self.bugs if bug.born in held and not bug.fixes & held]

    def is_broken(self, test: str, box: str, sha: str) -> bool:
        if self.seesaw:
            return list(self.nodes).index(sha) % 2 == 1
        return any(bug.test == test and bug.box in (None, box) for bug in self.bugs_in(sha))
