# SPDX-License-Identifier: Apache-2.0
"""What ran and passed on commits of a bench, from report rows: on one, and along a branch.

This module decides nothing beyond semantics 4.2: a commit passed for a test on a box when any
`hello_ok` report of that commit from that box, on any branch and workflow, has the test with
`pass`. Sets of tests are bit masks, so a report of a thousand tests is one step.
"""

from collections.abc import Iterator
from typing import NamedTuple

from hwci.engine.derived.rows import Bench, Track
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.codec import Stamp
from hwci.server.storage.sql.connection import Connection

_AFTER = """
SELECT p.rank, p.started_at, p.way, p.position, p.sha, r.template_id, r.fails
FROM place p INDEXED BY place_rank
CROSS JOIN report r INDEXED BY report_commit
  ON r.org_id = p.org_id AND r.product_id = ? AND r.box_key = ? AND r.sha = p.sha AND r.hello_ok = 1
WHERE p.org_id = ? AND p.repo_key = ? AND p.branch = ? AND p.rank > ?
ORDER BY p.rank
"""
_BEFORE = _AFTER.replace("p.rank > ?", "p.rank < ?") + " DESC"


def passed_tests(connection: Connection, org: bytes, bench: Bench, sha: str) -> int:
    """Return the tests that a commit passed on a bench."""
    passed = 0
    for template, fails in connection.rows(
        "SELECT template_id, fails FROM report INDEXED BY report_commit"
        " WHERE org_id = ? AND product_id = ? AND box_key = ? AND sha = ? AND hello_ok = 1",
        (org, *bench, sha),
    ):
        passed |= connection.mask(org, template) & ~codec.unpack_mask(fails)
    return passed


def passing_starts(
    connection: Connection, org: bytes, bench: Bench, sha: str, test: int
) -> list[int]:
    """Return the starts of the reports in which a test passed on a commit and a bench."""
    return [
        at
        for template, fails, at in connection.rows(
            "SELECT template_id, fails, started_at FROM report INDEXED BY report_commit"
            " WHERE org_id = ? AND product_id = ? AND box_key = ? AND sha = ? AND hello_ok = 1",
            (org, *bench, sha),
        )
        if (connection.mask(org, template) & ~codec.unpack_mask(fails)) >> test & 1
    ]


class Line(NamedTuple):
    """A track of a repository."""

    repo_key: str
    track: Track


class Walked(NamedTuple):
    """A report on a walk along a branch: the rank and place of its commit, and its tests."""

    rank: int
    place: Stamp
    ran: int
    passed: int


def walk_after(connection: Connection, org: bytes, line: Line, rank: int) -> Iterator[Walked]:
    """Return the reports of later commits of a track, in order of place, lazily."""
    return _walk(connection, _AFTER, org, line, rank)


def walk_before(connection: Connection, org: bytes, line: Line, rank: int) -> Iterator[Walked]:
    """Return the reports of earlier commits of a track, the latest commit first, lazily."""
    return _walk(connection, _BEFORE, org, line, rank)


def _walk(
    connection: Connection, statement: str, org: bytes, line: Line, rank: int
) -> Iterator[Walked]:
    repo_key, (bench, branch) = line
    values = (*bench, org, repo_key, branch, rank)
    for at, *place, template, fails in connection.each(statement, values):
        ran = connection.mask(org, template)
        yield Walked(at, Stamp(*place), ran, ran & ~codec.unpack_mask(fails))
