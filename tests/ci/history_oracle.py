# SPDX-License-Identifier: Apache-2.0
"""What a whole repository says of its commits, by reading every commit and tree as git stores them:
no walk and no comparison of git's own is asked.
"""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

Entries = Mapping[bytes, tuple[bytes, str]]


class Oracle:
    def __init__(self, folder: Path) -> None:
        self._objects = dict(_objects(folder))
        self._trees: dict[str, Entries] = {}

    def parents(self, sha: str) -> list[str]:
        head = self._objects[sha].partition(b"\n\n")[0]
        rows = (line.split(b" ") for line in head.split(b"\n"))
        return [row[1].decode() for row in rows if row[0] == b"parent"]

    def subject(self, sha: str) -> str:
        message = self._objects[sha].partition(b"\n\n")[2]
        return message.decode().strip().split("\n")[0].strip()

    def ancestors(self, sha: str) -> set[str]:
        """A commit and all before it."""
        found, waiting = {sha}, [sha]
        while waiting:
            new = [sha for sha in self.parents(waiting.pop()) if sha not in found]
            found.update(new)
            waiting += new
        return found

    def after(self, base: str, sha: str) -> set[str]:
        return self.ancestors(sha) - self.ancestors(base)

    def files(self, sha: str) -> set[bytes]:
        """The paths that no parent has as the commit has them."""
        own = self._entries(sha)
        before = [self._entries(parent) for parent in self.parents(sha)] or [{}]
        paths = set(own).union(*before)
        return {path for path in paths if all(own.get(path) != there.get(path) for there in before)}

    def _entries(self, sha: str) -> Entries:
        tree = self._objects[sha].split(b"\n")[0].removeprefix(b"tree ").decode()
        return dict(self._flat(tree, b""))

    def _flat(self, tree: str, above: bytes) -> Iterator[tuple[bytes, tuple[bytes, str]]]:
        content = self._objects[tree]
        while content:
            mode, _, content = content.partition(b" ")
            name, _, content = content.partition(b"\0")
            thing, content = content[:20].hex(), content[20:]
            if mode == b"40000":
                yield from self._flat(thing, above + name + b"/")
            else:
                yield above + name, (mode, thing)


def _objects(folder: Path) -> Iterator[tuple[str, bytes]]:
    raw = subprocess.run(
        ["git", "cat-file", "--batch", "--batch-all-objects"],
        cwd=folder,
        capture_output=True,
        check=True,
    ).stdout
    while raw:
        line, _, raw = raw.partition(b"\n")
        sha, _, size = line.decode().split(" ")
        yield sha, raw[: int(size)]
        raw = raw[int(size) + 1 :]
