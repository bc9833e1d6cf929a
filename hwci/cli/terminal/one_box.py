# SPDX-License-Identifier: Apache-2.0
"""One box, as a terminal, a spreadsheet or a document shows it: its shares beside those of the
others, and the tests that failed on it alone. Sentences and figures are the server's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli.terminal import render, tables
from hwci.cli.terminal.render import Format, Links
from hwci.contract.boxes.benches import SHARES_OF_A_BOX
from hwci.said import short, tenths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hwci.contract.boxes.benches import BoxHealth, FailedAlone, OneBox
    from hwci.contract.shares import Share

_HOUR = 3600


def show(box: OneBox, form: Format, links: Links | None = None) -> None:
    """Write the answer in the form that was asked for. JSON is the API's own."""
    if form is Format.JSON:
        render.emit_json(box)
        return
    if form is Format.TABLE:
        render.draw(render.indented(_lines(box)))
    if box.box is not None or form is not Format.TABLE:
        render.emit(alone(), box.alone, form, links)
    if form is Format.TABLE and box.alone_total > len(box.alone):
        render.note(f"… {box.alone_total - len(box.alone):,} more tests")


def alone() -> tables.Layout[FailedAlone]:
    """Return the layout of the tests that failed on the box alone."""
    column = tables.Column
    return tables.Layout(
        "alone",
        "Tests that failed on it alone",
        [
            column("Failed here alone", lambda row: row.test_id),
            column("Product", lambda row: tables.product(row.repo_key, row.suite), spare=True),
            column("Commits", lambda row: f"{row.commits:,} of {row.of:,}", right=True),
        ],
        "repoKey suite testId commits of",
        "On each commit, what failed here failed on another box too, or ran on no other.",
    )


def _lines(box: OneBox) -> Iterator[str]:
    if box.box is None:
        yield f"No run of this period was on {box.box_key}."
        return
    yield f"{box.box_key}: {box.box.says}"
    yield from _of_the_same(box.box)
    yield "All runs, whatever they tested (this does not say which box is worse):"
    fields = ["reached", "lost_board", "blamed", "failed_attempts"]
    for name, title in zip(fields, SHARES_OF_A_BOX.values(), strict=True):
        others = "" if box.others is None else f"; others {_of(getattr(box.others, name))}"
        yield f"  {title}: {_of(getattr(box.shares, name))}{others}"
    earlier = [] if box.box.before is None else box.box.before.lost_runs
    for run in [*box.box.lost_runs, *earlier]:
        at = tables.when(run.started_at, box.period.end)
        yield f"Lost its board {at} UTC: run {run.run_id} at {short(run.sha)} {run.says}"
    yield f"Board hours: {tenths(box.board_seconds / _HOUR):,}"
    clean = box.last_clean_run_at
    yield f"Last clean run: {f'{tables.when(clean, box.period.end)} UTC' if clean else 'none'}"
    yield f"Last run: {tables.when(box.box.last_run_at, box.period.end)} UTC"
    if box.box.last_seen_at is not None:
        yield f"Last heartbeat: {tables.when(box.box.last_seen_at, box.period.end)} UTC"
    for board in box.boards:
        yield f"Board {board.board}: {board.says}"
    for test in box.tests:
        yield f"{test.test_id} {test.says}"


def _of_the_same(box: BoxHealth) -> Iterator[str]:
    """Write the counts that are compared: the others are of all runs, whatever they tested."""
    counts = box.counts
    if counts.results and counts.others_results:
        here, there = (
            f"{failed:,} of {results:,}, {tenths(100 * failed / results)} %"
            for failed, results in (
                (counts.failed, counts.results),
                (counts.others_failed, counts.others_results),
            )
        )
        when = "" if box.note is None else f", {'before' if box.idle else 'since'} the note"
        same = f"of the same tests on the same commits{when}"
        yield f"First attempts that failed, {same}: {here}; others {there}"


def _of(share: Share | None) -> str:
    if share is None:
        return "none"
    return f"{share.part:,} of {share.total:,}, {tables.share(share)}"
