# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of `hwci.toml`. `docs/project_schema.py` writes its file, as the server does not
know what reads `hwci.toml`.
"""

from functools import cache
from importlib.resources import files


@cache
def _written() -> bytes:
    return (files(__package__) / "hwci.schema.json").read_bytes()


async def show() -> bytes:
    """Return the schema."""
    return _written()
