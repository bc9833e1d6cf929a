# SPDX-License-Identifier: Apache-2.0
"""Digests of what is kept. They show damage that leaves the database readable.

This module decides what they cover: the facts as they were sent, in an order that never changes,
and their organization. A report's covers the digests of its test names and its changes, which exist
anyway: a long report is serialized once. A digest detects damage, not forgery: a program that can
write the file can write a matching digest, so 16 bytes are enough.
"""

import hashlib
import json
import struct
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from itertools import dropwhile

from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.engine.facts import Report
from hwci.server.storage.sql import codec

_ENCODER = json.JSONEncoder(separators=(",", ":"), default=bytes.hex)
_BYTES = 16
_ADDED = [*dropwhile(lambda name: name != "part_of", [field.name for field in fields(Report)])][1:]
"""The fields of a report that a version after the first added, or will add: they come last."""
_RESULTS = 1024
_LISTS = 16  # a list of a thousand names has 100 KB


def of_values(*values: object) -> bytes:
    """Return the digest of a row of values. Columns that a later version added come last, and
    count only where they are set: rows from before them keep their digest.
    """
    while values and values[-1] is None:
        values = values[:-1]
    return _digest(_written(values))


@lru_cache(maxsize=_LISTS)  # the runs of a product have the same tests
def of_names(names: tuple[str, ...]) -> bytes:
    """Return the digest of a list of test names."""
    return hashlib.sha256(json.dumps(names).encode()).digest()


def of_changes(changes: ChangeList, commits: bytearray) -> bytes:
    """Return the digest of changes, whose commits are written as `codec.commits_json` does."""
    digest = hashlib.sha256(json.dumps((changes.base_sha, changes.truncated)).encode())
    digest.update(commits)
    return digest.digest()


def of_report(org: bytes, report: Report, names: bytes, changes: bytes | None) -> bytes:
    """Return the digest of a report, given those of its test names and its changes."""
    part = report.part_of
    head = _written(
        (
            *(org, report.repo_key, report.workflow, report.suite),
            *(report.run_id, report.run_attempt, report.trigger, report.branch, report.sha),
            *(codec.to_micros(report.started_at), codec.to_micros(report.ended_at)),
            *(report.conclusion, report.hello_ok, report.box_key, report.covers_shas),
            *(None if part is None else (part.run_id, part.part, part.parts), names, changes),
        )
    )
    results = b",".join(
        [
            _PLAIN
            if t.outcome is _PASS
            and t.attempts == 1
            and t.verdict is _UNKNOWN
            and t.message is t.board is t.log_url is None
            else _result(t.outcome, t.attempts, t.verdict, t.message, t.board, t.log_url)
            for t in report.tests
        ]
    )
    added = ((name, getattr(report, name)) for name in _ADDED)
    tail = [_written((name, value)) for name, value in added if value is not None]
    seconds = (test.duration_s for test in report.tests)
    return _digest(
        b",".join((head[:-1], b"[" + results + b"]", *tail))
        + b"]"
        + struct.pack(f"<{len(report.tests)}d", *seconds)
    )


def of_whole(org: bytes, report: Report) -> bytes:
    """Return the digest of a report, from nothing but itself."""
    changes = report.changes
    return of_report(
        org,
        report,
        of_names(tuple([test.id for test in report.tests])),
        None if changes is None else of_changes(changes, codec.commits_json(changes.commits)),
    )


@lru_cache(maxsize=_RESULTS)  # most of a report are equal
def _result(outcome: Outcome, attempts: int, verdict: Verdict, *added: str | None) -> bytes:
    while added and added[-1] is None:
        added = added[:-1]
    return _written((outcome, attempts, verdict, *added))


_PASS, _UNKNOWN = Outcome.PASS, Verdict.UNKNOWN
_PLAIN = b'["pass",1,"unknown"]'
"""What most items of a report are: to find it so takes a fifth of the time."""


def _written(values: Sequence[object]) -> bytes:
    return _ENCODER.encode(values).encode()


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_BYTES).digest()
