# SPDX-License-Identifier: Apache-2.0
"""What a changed file is to a product (spec, "Suite configuration"; semantics, 6.5).

This module decides a file's kind, and which file and pattern made a commit touch firmware or
harness. It does not know what follows from that.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from hwci.engine.facts import Commit, SuiteConfig
from hwci.engine.patterns import PathList
from hwci.engine.vocabulary import FileKind

_CONFIGURATIONS_KEPT = 16


class Touch(NamedTuple):
    """A file of a commit and the pattern that it matched."""

    file: str
    pattern: str


class ProductFiles(NamedTuple):
    """The two lists of a product, ready to match; `go_on` is asked before each match."""

    firmware: PathList
    harness: PathList
    go_on: Callable[[], None]

    def kind(self, path: str) -> FileKind:
        """Return a file's kind: one that matches both lists is of both kinds."""
        self.go_on()
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
            self.go_on()
            pattern = paths.deciding(file)
            if pattern is not None:
                return Touch(file, pattern)
        return None


def product_files(config: SuiteConfig, go_on: Callable[[], None] = lambda: None) -> ProductFiles:
    """Return the lists of a configuration, parsed once. Raises `PatternError` on an illegal one."""
    return ProductFiles(*_parsed(config.firmware_paths, config.harness_paths), go_on)


@lru_cache(_CONFIGURATIONS_KEPT)
def _parsed(firmware: tuple[str, ...], harness: tuple[str, ...]) -> tuple[PathList, PathList]:
    return PathList.parse(firmware), PathList.parse(harness)
