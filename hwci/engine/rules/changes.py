# SPDX-License-Identifier: Apache-2.0
"""The changes under test (semantics, 5), the kinds of their files (6.5), and the suspects (7).

This module decides the kind of a file, which file and pattern made a commit touch firmware or
harness, and which commits may have broken a test. It does not know what fixed the test.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.vocabulary import FileKind
from hwci.engine.facts import FailureKey, SuiteConfig
from hwci.engine.history import History, RunChanges
from hwci.engine.patterns import PathList

_CONFIGURATIONS_KEPT = 16


class Touch(NamedTuple):
    """A file of a commit and the pattern that it matched."""

    file: str
    pattern: str


class ProductFiles(NamedTuple):
    """The two path lists of a product. `check_time` is called before each match."""

    firmware: PathList
    harness: PathList
    check_time: Callable[[], None]

    def kind(self, path: str) -> FileKind:
        """Return the kind of a file: "A file that matches both lists is of both kinds"."""
        self.check_time()
        harness = self.harness.matches(path)
        if self.firmware.matches(path):
            return FileKind.BOTH if harness else FileKind.FIRMWARE
        return FileKind.HARNESS if harness else FileKind.OTHER

    def firmware_touch(self, commit: Commit) -> Touch | None:
        """Return the first firmware file of a commit."""
        return self._touch(commit, self.firmware)

    def harness_touch(self, commit: Commit) -> Touch | None:
        """Return the first harness file of a commit."""
        return self._touch(commit, self.harness)

    def _touch(self, commit: Commit, paths: PathList) -> Touch | None:
        for file in commit.files:
            self.check_time()
            pattern = paths.deciding(file)
            if pattern is not None:
                return Touch(file, pattern)
        return None


def product_files(
    config: SuiteConfig, check_time: Callable[[], None] = lambda: None
) -> ProductFiles:
    """Return the path lists of a configuration. Raises `PatternError` on an illegal pattern."""
    return ProductFiles(*_parsed(config.firmware_paths, config.harness_paths), check_time)


@lru_cache(_CONFIGURATIONS_KEPT)
def _parsed(firmware: tuple[str, ...], harness: tuple[str, ...]) -> tuple[PathList, PathList]:
    return PathList.parse(firmware), PathList.parse(harness)


class UnderTest(NamedTuple):
    """The product's paths and the changes that the first run on the failing commit sent, if known.
    `run`: that run; for what names it.
    """

    files: ProductFiles | None
    sent: ChangeList | None
    run: RunChanges | None = None

    @property
    def changes(self) -> ChangeList | None:
        """The changes under test: unknown too if their `base_sha` is null."""
        return None if self.sent is None or self.sent.base_sha is None else self.sent


def last_place(commits: Sequence[Commit], sha: str) -> int:
    """Return the index of a commit's last place in a list; -1 if it is not listed."""
    return max((at for at, commit in enumerate(commits) if commit.sha == sha), default=-1)


def broken_by(
    history: History, failures: Sequence[tuple[FailureKey, UnderTest]]
) -> list[tuple[Commit, ...] | None]:
    """Return the firmware commits that may have broken the test of each group, oldest first; None
    if unknown. `failures`: the first one of each group, and the changes under test.

    "Of the changes under test, the commits that changed firmware. If the last passed commit before
    the group is one of the listed commits, only those after its last place in the list." So a
    bisection by hand narrows the range.
    """
    # Many failures have the same changes under test.
    changes = [(id(tested.files), id(tested.sent)) for _, tested in failures]
    unlike = {same: tested for same, (_, tested) in zip(changes, failures, strict=True)}
    touching = {same: _suspects(tested) for same, tested in unlike.items()}
    listed = {same: [commit.sha for commit in _listed(tested)] for same, tested in unlike.items()}
    suspects = [touching[same] for same in changes]
    ranges = [tuple(suspect.values()) or None for suspect in suspects]
    # A list of the failing commit alone has none before it.
    groups = [
        at
        for at, (key, _) in enumerate(failures)
        if suspects[at] and listed[changes[at]] != [key.sha]
    ]
    passes = history.last_passes_before([(failures[at][0], listed[changes[at]]) for at in groups])
    for at, passed in zip(groups, passes, strict=True):
        if passed is not None:
            after = last_place(_listed(failures[at][1]), passed)
            later = tuple(commit for index, commit in suspects[at].items() if index > after)
            ranges[at] = later or None
    return ranges


def _suspects(under_test: UnderTest) -> dict[int, Commit]:
    """Return the listed commits that changed firmware, by their place in the list."""
    files = under_test.files
    if files is None:
        return {}
    return {
        at: commit
        for at, commit in enumerate(_listed(under_test))
        if files.firmware_touch(commit) is not None
    }


def _listed(under_test: UnderTest) -> Sequence[Commit]:
    return () if under_test.changes is None else under_test.changes.commits
