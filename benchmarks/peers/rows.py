# SPDX-License-Identifier: Apache-2.0
"""Histories as plain rows: one for each test item, with numbers for names.

This module decides the tables. It helps the peers as far as these histories allow: a commit is on
one branch, commits are numbered in their order on it, and reports that never reached the hardware
have no items. The rules are in the queries of `engines.py`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.history import ANNOUNCE, REPORT, Body
from benchmarks.peers.figures import micros

PASS, FAIL = 0, 1
SUITE, TEST, BOX, BRANCH, COMMIT, MERGE = range(6)
TABLES: Mapping[str, Sequence[str]] = {
    "name": ("kind", "number", "text"),
    "announcement": ("product", "merge_no", "merged_at"),
    "tested": ("product", "merge_no"),
    "report": ("started_at", "hello_ok"),
    "item": (
        *("product", "test", "box", "branch", "commit_no", "started_at", "outcome", "attempts"),
    ),
}

Row = tuple[int | str, ...]
Batch = Mapping[str, Sequence[Row]]
"""Rows by table."""


class Rows:
    """Turns bodies into rows. `names`: the rows of `name` so far."""

    def __init__(self, names: Iterable[tuple[int, int, str]] = ()) -> None:
        self._numbers = {(kind, text): number for kind, number, text in names}
        self._batch: dict[str, list[Row]] = {}

    def of(self, bodies: Iterable[Body]) -> Batch:
        """Return the rows of bodies, in the order in which they came."""
        self._batch = defaultdict(list)
        for kind, sent in bodies:
            if kind == ANNOUNCE:
                self._add(
                    "announcement", *self._merge(sent, sent["sha"]), micros(sent["merged_at"])
                )
            elif kind == REPORT:
                self._add_report(sent)
        return self._batch

    def _add_report(self, sent: Mapping[str, Any]) -> None:
        at = micros(sent["started_at"])
        self._add("report", at, int(sent["hello_ok"]))
        changes = sent["changes"] or {"base_sha": None, "commits": []}
        listed = [commit["sha"] for commit in changes["commits"]]
        for sha in (changes["base_sha"], *sent["covers_shas"], *listed):
            if sha is not None:
                self._number(COMMIT, sha)
        place = (
            self._number(BOX, sent["box_key"]),
            self._number(BRANCH, sent["branch"]),
            self._number(COMMIT, sent["sha"]),
            at,
        )
        product = self._number(SUITE, sent["suite"])
        for item in sent["tests"]:
            outcome = FAIL if item["outcome"] == "fail" else PASS
            test = self._number(TEST, item["id"])
            self._add("item", product, test, *place, outcome, item["attempts"])
        if sent["tests"]:
            for sha in (*sent["covers_shas"], sent["sha"]):
                self._add("tested", *self._merge(sent, sha))

    def _merge(self, sent: Mapping[str, Any], sha: str) -> tuple[int, int]:
        return self._number(SUITE, sent["suite"]), self._number(MERGE, sha)

    def _number(self, kind: int, text: str) -> int:
        number = self._numbers.get((kind, text))
        if number is None:
            number = self._numbers[kind, text] = len(self._numbers)
            self._add("name", kind, number, text)
        return number

    def _add(self, table: str, *row: int | str) -> None:
        self._batch[table].append(row)
