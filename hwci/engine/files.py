# SPDX-License-Identifier: Apache-2.0
"""What a changed file is to a product (spec, "Suite configuration"; semantics, 6.5).

This module decides a file's kind, and which file and pattern made a commit touch firmware or
harness. It does not know what follows from that.
"""

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
    """The two lists of a product, ready to match."""

    firmware: PathList
    harness: PathList

    def kind(self, path: str) -> FileKind:
        """Tell a file's kind: one that matches both lists is of both kinds."""
        harness = self.harness.matches(path)
        if self.firmware.matches(path):
            return FileKind.BOTH if harness else FileKind.FIRMWARE
        return FileKind.HARNESS if harness else FileKind.OTHER


def product_files(config: SuiteConfig) -> ProductFiles:
    """Give the lists of a configuration, parsed once. Raises `PatternError` on an illegal one."""
    return _parsed(config.firmware_paths, config.harness_paths)


@lru_cache(_CONFIGURATIONS_KEPT)
def _parsed(firmware: tuple[str, ...], harness: tuple[str, ...]) -> ProductFiles:
    return ProductFiles(PathList.parse(firmware), PathList.parse(harness))


def touch(commit: Commit, paths: PathList) -> Touch | None:
    """Give the first file of a commit that a list matches."""
    for file in commit.files:
        pattern = paths.deciding(file)
        if pattern is not None:
            return Touch(file, pattern)
    return None
