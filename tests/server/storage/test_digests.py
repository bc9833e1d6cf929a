# SPDX-License-Identifier: Apache-2.0
"""What is kept and is not what was sent is given to nobody, however small the difference."""

import zlib
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from hwci.engine.facts import Part, failure_id
from hwci.server.errors import DamagedError
from hwci.server.storage.run_records import record_id_of
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.reports import digests
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite.connections import Connection, open_writer
from tests.server.storage.examples import (
    ACME,
    ANNOUNCEMENT,
    CHANGES,
    CONFIG,
    FAIL,
    FAILURE,
    NOON,
    PASS,
    REPORT,
    REVIEW,
)

SILENT = replace(FAIL, message=None, board=None, log_url=None)
PARTED = replace(REPORT, run_id=8, part_of=Part(7, 1, 2))
SENT = [field.name for field in fields(REPORT)]
ADDED = {name: getattr(REPORT, name) for name in SENT[SENT.index("part_of") + 1 :]}
"""The fields that a version after the first added; the example has a value for each."""
ALTERED: dict[str, dict[str, object]] = {
    "product": {"repo_key": "other", "suite": "other"},
    "test": {"name": "other", "number": "number + 10"},
    "template": {"tests": codec.pack_numbers([1, 0])},
    "changes": {
        "base_sha": "a1aaaaa",
        "truncated": 1,
        "body": codec.pack_commits(codec.commits_json(CHANGES.commits).replace(b"bus", b"but")),
    },
    "item": {"test": 0, "outcome": 0, "attempts": 2, "verdict": 0, "message": None},
    "report": {
        "repo_key": "fx",
        "run_id": 6,
        "run_attempt": 2,
        "box_key": "b2",
        "workflow": "x",
        "trigger": "merge",
        "branch": "mayn",
        "sha": "bbbbbbc",
        "conclusion": "failurf",
        "started_at": codec.to_micros(NOON) + 1,
        "ended_at": codec.to_micros(NOON),
        "hello_ok": 0,
        "covers": None,
        "changes_id": None,
        "template_id": 99,
        "durations": codec.pack_durations([0.25, 1 / 3 + 2**-54]),
        "digest": b"0" * 16,
        "part_run_id": 8,
        "part": 2,
        "parts": 3,
        **{
            name: f"{value}x" if isinstance(value, str) else int(value) + 1
            for name, value in ADDED.items()
        },
    },
}
COLUMNS = [(table, column) for table, of in ALTERED.items() for column in of]


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    connection = open_writer(tmp_path / "hwci.db")
    connection.execute("BEGIN")
    writer = Transaction(connection)
    for report in (REPORT, PARTED):
        writer.put_report(ACME.id, report, NOON)
    writer.announce(ACME.id, ANNOUNCEMENT, NOON)
    writer.put_config(ACME.id, CONFIG, NOON)
    writer.put_review(ACME.id, failure_id(ACME.id, FAILURE), REVIEW)
    return connection


def alter(connection: Connection, table: str, column: str) -> None:
    value = ALTERED[table][column]
    if value == "number + 10":
        connection.execute(f"UPDATE {table} SET {column} = {value}")
    else:
        connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))


READS: dict[str, Callable[[Transaction], object]] = {
    "a run": lambda writer: [
        writer.run(ACME.id, record_id_of(ACME.id, report), NOON) for report in (REPORT, PARTED)
    ],
    "all facts": lambda writer: writer.facts(ACME.id),
    "a rebuild": lambda writer: writer.rebuild(ACME.id),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_report_with_any_value_altered_is_never_returned(
    connection: Connection, table: str, column: str, read: Callable[[Transaction], object]
) -> None:
    writer = Transaction(connection)
    read(writer)
    alter(connection, table, column)

    with pytest.raises(DamagedError, match=r"Report \d .* is not what was sent; run `hwci"):
        read(writer)


def test_text_that_cannot_be_decompressed_is_damage_and_no_bug(
    connection: Connection,
) -> None:
    connection.execute("UPDATE changes SET body = ?", (zlib.compress(b"[[")[:-1] + b"x",))

    with pytest.raises(DamagedError):
        Transaction(connection).facts(ACME.id)


def test_what_has_no_field_of_a_later_version_keeps_its_digest() -> None:
    without: dict[str, Any] = dict.fromkeys(ADDED)
    of_report = digests.of_whole(ACME.id.bytes, replace(REPORT, **without, tests=(PASS, SILENT)))
    at = codec.to_micros(NOON)
    of_merge = digests.of_values(ACME.id.bytes, "fw", "", "bbbbbbb", "main", at, None)

    assert of_report.hex() == "420b59d67b01fd3d630263779c71fdef"
    assert of_merge.hex() == "abf37fb0b4cec2fd5a84c9f11999e401"


def test_a_report_of_another_organization_has_another_digest(connection: Connection) -> None:
    Transaction(connection).put_report(FAILURE_ORG, REPORT, NOON)
    found = connection.rows("SELECT digest FROM report WHERE run_id = 7")

    assert len({digest for (digest,) in found}) == 2


FAILURE_ORG = replace(ACME, id=record_id_of(ACME.id, REPORT)).id
