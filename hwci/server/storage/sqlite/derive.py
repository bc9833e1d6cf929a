# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""What is derived from reports: places, changes of runs, and the state of failures, kept up to
date.

This module decides what a new, replaced or removed report can change, and recomputes exactly that
from the facts there; the rules are the engine's (semantics, 3 to 5) and `full.FullHistory` is their
definition. Its cost depends on what was touched, never on the length of the history. Only
`ingest.py` uses it: watch, change rows, note, settle.
"""

from collections.abc import Iterable
from typing import NamedTuple

from hwci.engine.facts import Report
from hwci.engine.rules.reports import mentions
from hwci.server.storage.sqlite import codec
from hwci.server.storage.sqlite.codec import Stamp
from hwci.server.storage.sqlite.connections import Connection
from hwci.server.storage.sqlite.failures import FailureTable, Natural
from hwci.server.storage.sqlite.passes import Bench, Track, Waiting, next_passes, passed_tests
from hwci.server.storage.sqlite.reports import KeptReport


class Spot(NamedTuple):
    """A commit on a branch."""

    sha: str
    branch: str


class Run(NamedTuple):
    """A run whose changes count once (semantics, 5.1)."""

    workflow: str
    branch: str
    sha: str
    run_id: int


class Move(NamedTuple):
    """A commit that changes its place on a branch."""

    spot: Spot
    old: Stamp
    new: Stamp


class Derivation:
    """One change of the reports of a repository: the state before it, then its consequences."""

    def __init__(self, connection: Connection, org: bytes, repo_key: str) -> None:
        self._connection = connection
        self._org = org
        self._repo_key = repo_key
        self._failures = FailureTable(connection, org)
        self._places: dict[Spot, Stamp | None] = {}
        self._passed_before: dict[tuple[Bench, str], int] = {}
        self._passed_after: dict[tuple[Bench, str], int] = {}
        self._runs: set[Run] = set()
        self._touched: dict[bytes, Natural] = {}
        self._search: dict[Track, set[Waiting]] = {}
        self._arrivals: dict[tuple[Track, Stamp], int] = {}

    def watch(self, product_id: int, report: Report) -> None:
        """Note the present state of everything that a report affects, before any row is changed."""
        for mention in mentions(report):
            spot = Spot(mention.sha, report.branch)
            if spot not in self._places:
                self._places[spot] = self._place(spot)
        if report.hello_ok:
            bench = Bench(product_id, report.box_key)
            if (bench, report.sha) not in self._passed_before:
                self._passed_before[bench, report.sha] = passed_tests(
                    self._connection, self._org, bench, report.sha
                )

    def note(self, kept: KeptReport) -> None:
        """Note a report that comes or goes, with what it decides."""
        report = kept.report
        self.watch(kept.product_id, report)
        self._runs.add(Run(report.workflow, report.branch, report.sha, report.run_id))
        bench = Bench(kept.product_id, report.box_key)
        for test, failure_id in kept.failing.items():
            self._touched[failure_id] = Natural(bench, test, report.branch, report.sha)

    def settle(self) -> None:
        """Bring everything derived up to date with the rows as they are now."""
        moves, others = self._settle_places()
        for run in self._runs:
            self._settle_run(run)
        self._restamp(moves)
        self._settle_failures()
        self._settle_passes()
        self._follow_others(others)
        self._follow_moves(self._reordering(moves))
        for track, waiting in self._search.items():
            found = next_passes(self._connection, self._org, track, list(waiting))
            self._failures.set_next(found)
        for (track, place), passed in self._arrivals.items():
            self._failures.fix_earlier(track, place, passed)

    def _place(self, spot: Spot) -> Stamp | None:
        row = self._connection.row(
            "SELECT started_at, way, position, sha FROM place"
            " WHERE org_id = ? AND repo_key = ? AND sha = ? AND branch = ?",
            (self._org, self._repo_key, *spot),
        )
        return None if row is None else (row[0], row[1], row[2], row[3])

    def _first_mention(self, spot: Spot) -> Stamp | None:
        row = self._connection.row(
            "SELECT started_at, way, position, sha FROM mention"
            " WHERE org_id = ? AND repo_key = ? AND sha = ? AND branch = ?"
            " ORDER BY started_at, way, position LIMIT 1",
            (self._org, self._repo_key, *spot),
        )
        return None if row is None else (row[0], row[1], row[2], row[3])

    def _settle_places(self) -> tuple[list[Move], list[Spot]]:
        """Write the places that changed. Return the moves, and the commits that came or went."""
        moves: list[Move] = []
        others: list[Spot] = []
        for spot, old in self._places.items():
            new = self._first_mention(spot)
            if old == new:
                continue
            self._write_place(spot, new)
            if old is None or new is None:
                others.append(spot)
            else:
                moves.append(Move(spot, old, new))
        return moves, others

    def _write_place(self, spot: Spot, place: Stamp | None) -> None:
        key = (self._org, self._repo_key, *spot)
        if place is None:
            self._connection.execute(
                "DELETE FROM place WHERE org_id = ? AND repo_key = ? AND sha = ? AND branch = ?",
                key,
            )
        else:
            self._connection.execute(
                "INSERT OR REPLACE INTO place"
                " (org_id, repo_key, sha, branch, started_at, way, position)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*key, *place[:3]),
            )

    def _tested_on(self, spots: Iterable[Spot]) -> list[tuple[Spot, Bench]]:
        """Return the benches that reached hardware with each of these commits, on any branch."""
        by_sha: dict[str, list[Spot]] = {}
        for spot in spots:
            by_sha.setdefault(spot.sha, []).append(spot)
        rows = self._connection.rows(
            "SELECT DISTINCT j.value, r.product_id, r.box_key FROM json_each(?) j"
            " CROSS JOIN report r INDEXED BY report_sha"
            " ON r.org_id = ? AND r.repo_key = ? AND r.sha = j.value AND r.hello_ok = 1",
            (codec.json_list(by_sha), self._org, self._repo_key),
        )
        return [(spot, Bench(product, box)) for sha, product, box in rows for spot in by_sha[sha]]

    def _restamp(self, moves: list[Move]) -> None:
        """Write the new places into the failures at these commits and those that they fixed."""
        places = {move.spot: move.new for move in moves}
        for spot, bench in self._tested_on(places):
            self._failures.restamp(bench, spot.branch, places[spot])

    def _follow_others(self, others: list[Spot]) -> None:
        """Make new commits of a branch the next pass of failures before them; replace those that
        went.
        """
        for spot, bench in self._tested_on(others):
            place = self._place(spot)
            if place is None:
                self._search_again(self._failures.fixed_by(bench, spot.sha, branch=spot.branch))
            else:
                self._arrive(bench, spot, place, self._passed(bench, spot.sha))

    def _follow_moves(self, moves: list[Move]) -> None:
        """Redo the next passes that commits in a new order can affect."""
        places = {move.spot: move.new for move in moves}
        for spot, bench in self._tested_on(places):
            self._search_again(self._failures.at(bench, spot.sha, spot.branch))
            self._search_again(self._failures.fixed_by(bench, spot.sha, branch=spot.branch))
            self._arrive(bench, spot, places[spot], self._passed(bench, spot.sha))

    def _reordering(self, moves: list[Move]) -> list[Move]:
        """Return the moves that changed the order of a branch.

        The boxes of one run report in any order, so that its commits often move by seconds,
        together: then only their places are rewritten, and no next pass is searched.
        """
        by_branch: dict[str, list[Move]] = {}
        for move in moves:
            by_branch.setdefault(move.spot.branch, []).append(move)
        return [
            move
            for branch, moved in by_branch.items()
            if self._order_changed(branch, moved)
            for move in moved
        ]

    def _order_changed(self, branch: str, moves: list[Move]) -> bool:
        stamps = [stamp for move in moves for stamp in (move.old, move.new)]
        between = self._connection.rows(
            "SELECT sha FROM place INDEXED BY place_order"
            " WHERE org_id = ? AND repo_key = ? AND branch = ?"
            " AND (started_at, way, position, sha) >= (?, ?, ?, ?)"
            " AND (started_at, way, position, sha) <= (?, ?, ?, ?)"
            " ORDER BY started_at, way, position, sha LIMIT ?",
            (self._org, self._repo_key, branch, *min(stamps), *max(stamps), len(moves) + 1),
        )
        before = [move.spot.sha for move in sorted(moves, key=lambda move: move.old)]
        return [sha for (sha,) in between] != before

    def _settle_run(self, run: Run) -> None:
        """Choose the earliest report of a run that carries changes (semantics, 5.1)."""
        key = (self._org, self._repo_key, *run)
        where = (
            "WHERE org_id = ? AND repo_key = ? AND workflow = ? AND branch = ? AND sha = ?"
            " AND run_id = ?"
        )
        first = self._connection.row(
            "SELECT started_at, run_attempt, box_key, changes_id"
            f" FROM report INDEXED BY report_run {where} AND carried = 1"
            " ORDER BY started_at, run_attempt, box_key LIMIT 1",
            key,
        )
        if first is None:
            self._connection.execute(f"DELETE FROM run_changes {where}", key)
        else:
            self._connection.execute(
                "INSERT OR REPLACE INTO run_changes (org_id, repo_key, workflow, branch, sha,"
                " run_id, started_at, run_attempt, box_key, changes_id)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*key, *first),
            )

    def _settle_failures(self) -> None:
        """Recount the failures whose items changed; new ones need their next pass."""
        for failure_id, natural in self._touched.items():
            place = self._place(Spot(natural.sha, natural.branch))
            if place is None:
                self._failures.drop(failure_id)  # no report of the branch has the commit any more
            elif self._failures.recount(failure_id, natural, place):
                track = Track(natural.bench, self._repo_key, natural.branch)
                waiting = Waiting(place, natural.test, failure_id)
                self._search.setdefault(track, set()).add(waiting)

    def _settle_passes(self) -> None:
        """Update for tests that a commit now passes, or no longer passes."""
        for (bench, sha), before in self._passed_before.items():
            after = self._passed(bench, sha)
            self._failures.set_passed(bench, sha, after)
            lost, gained = before & ~after, after & ~before
            if lost:
                self._search_again(self._failures.fixed_by(bench, sha, tests=lost))
            if gained:
                for spot, place in self._places_of(sha):
                    self._arrive(bench, spot, place, gained)

    def _passed(self, bench: Bench, sha: str) -> int:
        """Return what a commit passes now that the rows are changed."""
        if (bench, sha) not in self._passed_after:
            self._passed_after[bench, sha] = passed_tests(self._connection, self._org, bench, sha)
        return self._passed_after[bench, sha]

    def _places_of(self, sha: str) -> list[tuple[Spot, Stamp]]:
        rows = self._connection.rows(
            "SELECT branch, started_at, way, position FROM place"
            " WHERE org_id = ? AND repo_key = ? AND sha = ?",
            (self._org, self._repo_key, sha),
        )
        return [(Spot(sha, row[0]), (row[1], row[2], row[3], sha)) for row in rows]

    def _search_again(self, found: Iterable[tuple[Bench, str, Waiting]]) -> None:
        for bench, branch, waiting in found:
            self._search.setdefault(Track(bench, self._repo_key, branch), set()).add(waiting)

    def _arrive(self, bench: Bench, spot: Spot, place: Stamp, passed: int) -> None:
        """Make a commit the next pass of earlier failures of a branch, once everything else is
        settled.
        """
        key = (Track(bench, self._repo_key, spot.branch), place)
        self._arrivals[key] = self._arrivals.get(key, 0) | passed
