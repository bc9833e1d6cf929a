# SPDX-License-Identifier: Apache-2.0
"""The statements of `storage/sql` as PostgreSQL reads them, and the values that go with them.

This module knows what SQLite says differently, one row each, and no statement. `INDEXED BY` and the
order of a `CROSS JOIN` are hints to SQLite's planner alone.
"""

import re
from functools import lru_cache
from itertools import count

from psycopg import Connection
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types.numeric import Int8Dumper, NumericBinaryLoader

from hwci.server.storage.sql.codec import Numbers, Texts

_STATEMENTS = 1024
_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\s+INDEXED BY \w+", ""),
        (r"\bCROSS JOIN\b", "JOIN"),
        (r"\bjson_each\((\S+?)\) j\b", r"unnest(\1) AS j(value)"),
        (r"\b(FROM|INTO|JOIN|UPDATE) user\b", r'\1 "user"'),
        (r"\bCAST\((\w+) AS BLOB\)", r"convert_to(\1, 'UTF8')"),
        (r"\+org_id\b", "org_id"),
    )
)
_HOLE = re.compile(r"\?(\d*)")
_BIGINT_ARRAY, _TEXT_ARRAY = 1016, 1009


@lru_cache(maxsize=_STATEMENTS)
def native(statement: str) -> bytes:
    """Return a statement as PostgreSQL reads it."""
    for pattern, replacement in _RULES:
        statement = pattern.sub(replacement, statement)
    numbers = count(1)  # of the holes that have none
    return _HOLE.sub(lambda hole: f"${hole[1] or next(numbers)}", statement).encode()


def adapt(raw: Connection) -> None:
    """Store values in columns as SQLite has them: whole numbers, switches, and lists."""
    for kind, dumper in ((int, Int8Dumper), (bool, _Switch), (Numbers, _Numbers), (Texts, _Texts)):
        raw.adapters.register_dumper(kind, dumper)
    raw.adapters.register_loader("numeric", _Sum)


class _Switch(Dumper):
    """A switch, stored as 0 or 1."""

    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _Numbers(Dumper):
    """A list of whole numbers."""

    oid = _BIGINT_ARRAY

    def dump(self, obj: Numbers) -> Buffer:
        return f"{{{','.join(map(str, obj))}}}".encode()


class _Texts(Dumper):
    """A list of texts."""

    oid = _TEXT_ARRAY

    def dump(self, obj: Texts) -> Buffer:
        escaped = (text.replace("\\", "\\\\").replace('"', '\\"') for text in obj)
        return ("{" + ",".join(f'"{text}"' for text in escaped) + "}").encode()


class _Sum(Loader):
    """A sum of whole numbers."""

    format = Format.BINARY

    def load(self, data: Buffer) -> int:
        return int(NumericBinaryLoader(self.oid, self.connection).load(data))
