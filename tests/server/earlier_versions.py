# SPDX-License-Identifier: Apache-2.0
"""Databases that earlier versions wrote, and what these showed of them (`before/`)."""

import gzip
from pathlib import Path

BEFORE = Path(__file__).parent / "before"


def unpack(name: str, to: Path) -> None:
    """Write the database of an earlier version."""
    to.write_bytes(gzip.decompress((BEFORE / f"{name}.db.gz").read_bytes()))
