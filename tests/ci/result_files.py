# SPDX-License-Identifier: Apache-2.0
"""Result files that a test writes itself."""

from pathlib import Path


def written(folder: Path, text: str) -> Path:
    """Return a file in a folder that holds a text."""
    path = folder / "results.xml"
    path.write_text(text, encoding="utf-8")
    return path
