# SPDX-License-Identifier: Apache-2.0
"""The version of the files that run: `__version__`, and after `+` a digest of them.

This module decides which files are the package. Two builds of one `__version__` have two versions,
so that pip replaces one by the other, and each answer says which program made it.
"""

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from hwci import __version__

_SUFFIXES = frozenset((
    ".css", ".groovy", ".html", ".js", ".json", ".py", ".pyi", ".sh", ".sql", ".svg", ".toml",
    ".txt", ".typed", ".yml",
))  # fmt: skip
"""Of the package's files. What else is in the folder of a checkout is not for others."""
_DIGITS = 8
_FOLDER = Path(__file__).parent


def package_files() -> Iterator[tuple[str, bytes]]:
    """Yield the name of each file of the package, from the folder above it, and its content."""
    for path in sorted(_FOLDER.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            yield path.relative_to(_FOLDER.parent).as_posix(), path.read_bytes()


@cache
def build_version() -> str:
    """Return the version of these files, such as `0.1.0+g3f2a9c1b`. Reads them all, once."""
    digest = hashlib.sha256()
    for name, content in package_files():
        digest.update(b"%s %d\n%s" % (name.encode(), len(content), content))
    # With a letter, or a digest of digits alone would be a number to pip.
    return f"{__version__}+g{digest.hexdigest()[:_DIGITS]}"


def wheel_version() -> str:
    """Return the version of a wheel that is built: a release is `__version__` alone, as PyPI has
    no other.
    """
    return __version__ if os.environ.get("HWCI_RELEASE") else build_version()
