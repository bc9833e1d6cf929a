# SPDX-License-Identifier: Apache-2.0
"""Which tests passed on a commit, and the first pass after a failure, from report rows.

This module decides nothing beyond semantics 4.2: a commit passed for a test on a box when any
`hello_ok` report of that commit from that box, on any branch and workflow, has the test with
`pass`. Sets of tests are bit masks, so a report of a thousand tests is one step.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hwci.server.storage.sqlite import codec
from hwci.server.storage.sqlite.codec import Stamp
from hwci.server.storage.sqlite.connections import Connection


class Bench(NamedTuple):
    """A box and the product whose tests it runs."""

    product_id: int
    box_key: str


class Track(NamedTuple):
    """A bench on a branch: where passes follow failures."""

    bench: Bench
    repo_key: str
    branch: str


class Waiting(NamedTuple):
    """A failure whose next pass is to be found."""

    place: Stamp
    test: int
    failure_id: bytes


_AFTER = (
    "SELECT p.started_at, p.way, p.position, p.sha, r.template_id, r.fails"
    " FROM place p INDEXED BY place_order"
    " CROSS JOIN report r INDEXED BY report_commit"
    " ON r.org_id = p.org_id AND r.product_id = ? AND r.box_key = ? AND r.sha = p.sha"
    " AND r.hello_ok = 1"
    " WHERE p.org_id = ? AND p.repo_key = ? AND p.branch = ?"
    " AND (p.started_at, p.way, p.position, p.sha) > (?, ?, ?, ?)"
    " ORDER BY p.started_at, p.way, p.position, p.sha"
)
_BEFORE = _AFTER.replace(") > (", ") < (").replace(
    "ORDER BY p.started_at, p.way, p.position, p.sha",
    "ORDER BY p.started_at DESC, p.way DESC, p.position DESC, p.sha DESC",
)


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


def passed_among(
    connection: Connection, org: bytes, track: Track, before: Stamp, shas: Sequence[str]
) -> int:
    """Return the tests that one of these commits passed, if its place is earlier."""
    passed = 0
    for template, fails in connection.rows(
        "SELECT r.template_id, r.fails FROM json_each(?) j CROSS JOIN place p"
        " ON p.org_id = ? AND p.repo_key = ? AND p.branch = ? AND p.sha = j.value"
        " AND (p.started_at, p.way, p.position, p.sha) < (?, ?, ?, ?)"
        " CROSS JOIN report r INDEXED BY report_commit"
        " ON r.org_id = p.org_id AND r.product_id = ? AND r.box_key = ? AND r.sha = p.sha"
        " AND r.hello_ok = 1",
        (codec.json_list(shas), org, track.repo_key, track.branch, *before, *track.bench),
    ):
        passed |= connection.mask(org, template) & ~codec.unpack_mask(fails)
    return passed


class Walked(NamedTuple):
    """A report on a walk along a branch: the place of its commit, and its tests."""

    place: Stamp
    ran: int
    passed: int


def walk_after(connection: Connection, org: bytes, track: Track, place: Stamp) -> Iterator[Walked]:
    """Return the reports of later commits of a track, in order of place, lazily."""
    return _walk(connection, _AFTER, org, track, place)


def walk_before(connection: Connection, org: bytes, track: Track, place: Stamp) -> Iterator[Walked]:
    """Return the reports of earlier commits of a track, the latest commit first, lazily."""
    return _walk(connection, _BEFORE, org, track, place)


def _walk(
    connection: Connection, statement: str, org: bytes, track: Track, place: Stamp
) -> Iterator[Walked]:
    values = (*track.bench, org, track.repo_key, track.branch, *place)
    for at, way, position, sha, template, fails in connection.execute(statement, values):
        ran = connection.mask(org, template)
        yield Walked((at, way, position, sha), ran, ran & ~codec.unpack_mask(fails))


def next_passes(
    connection: Connection, org: bytes, track: Track, waiting: list[Waiting]
) -> dict[bytes, Stamp]:
    """Find the first pass after each of these failures of one track, in one walk.

    The walk ends when the last of them is found, so it depends on how late they are, not on the
    history.
    """
    ahead = sorted(waiting, reverse=True)
    found: dict[bytes, Stamp] = {failure.failure_id: codec.NEVER for failure in waiting}
    open_failures: dict[int, list[bytes]] = {}
    open_tests = 0
    for place, _, passed in walk_after(connection, org, track, ahead[-1].place):
        while ahead and ahead[-1].place < place:
            failure = ahead.pop()
            open_failures.setdefault(failure.test, []).append(failure.failure_id)
            open_tests |= 1 << failure.test
        fixed = open_tests & passed
        open_tests &= ~passed
        for test in codec.members(fixed):
            found |= dict.fromkeys(open_failures.pop(test), place)
        if not ahead and not open_tests:
            break
    return found
