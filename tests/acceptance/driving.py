# SPDX-License-Identifier: Apache-2.0
"""Sends a random story to a running server as CI and people would, and reads the page back.

This module decides how the server's JSON and the reference's rows are put into one form: ids become
natural keys (and must do so one to one), times become instants. It compares nothing.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import aiohttp

from tests.reference import generator
from tests.reference.facts import Event, Json

PATHS = {
    "announce": ("POST", "/api/ci/merge-announce"),
    "report": ("POST", "/api/ci/run-report"),
    "config": ("PUT", "/api/ci/suite-config"),
}
TIMES = {"startedAt", "mergedAt", "firstStartedAt", "lastStartedAt", "from", "to"}
PERIOD = {"days": 3650, "asOf": generator.LATEST}


@dataclass
class Tenant:
    """One organization on a running server, and what its readers have seen so far."""

    http: aiohttp.ClientSession
    org_id: UUID
    ci_key: str
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    records: dict[str, tuple[object, ...]] = field(default_factory=dict)

    async def tell(self, events: list[Event]) -> list[Event]:
        """Send a story in its order. Gives it back with its reviews settled by this server."""
        received: list[Event] = []
        for kind, body in events:
            if kind == "review":
                received += await self._review(body)
                continue
            method, path = PATHS[kind]
            headers = {"X-API-Key": self.ci_key}
            async with self.http.request(method, path, json=body, headers=headers) as answer:
                assert answer.status == 204, await answer.text()
            received.append((kind, body))
        return received

    async def _review(self, choice: Json) -> list[Event]:
        page = await self.read("ci-metrics", limit=100, **PERIOD)
        listed = await self.rows("ci-failures", **PERIOD)
        rows = page["realBugs"]["items"] + page["otherFailures"]["items"]
        chosen = generator.choose(choice, rows, listed)
        if chosen is None:
            return []
        path = f"/api/orgs/{self.org_id}/ci-failures/{chosen['id']}/{choice['action']}"
        async with self.http.post(path) as answer:
            assert answer.status == 200, await answer.text()
            now = await answer.json()
        review = now["review"] or {"by": {}, "at": generator.LATEST}  # a reset leaves none
        return [generator.review_event(choice, chosen, review["by"], review["at"])]

    async def read(self, path: str, **query: Any) -> Json:
        """Return one answer of this organization."""
        params = {name: value for name, value in query.items() if value is not None}
        async with self.http.get(f"/api/orgs/{self.org_id}/{path}", params=params) as answer:
            assert answer.status == 200, await answer.text()
            found: Json = await answer.json()
            return found

    async def rows(self, path: str, **query: Any) -> list[Json]:
        """Return a whole list, page by page."""
        rows: list[Json] = []
        page = 1
        while True:
            found = await self.read(path, page=page, limit=17, **query)
            rows += found["items"]
            if len(rows) >= found["total"]:
                return rows
            page += 1

    async def page(self, view: Json) -> Json:
        """Return the metrics page in the common form, its tables whole."""
        query = {
            "days": view["days"],
            "asOf": view["as_of"],
            "repoKey": view.get("repo_key"),
            "suite": view.get("suite"),
        }
        found = await self.read("ci-metrics", **query)
        for table, path in TABLES.items():
            first = found[table]
            rows = await self.rows(f"ci-metrics/{path}", **query)
            assert (first["total"], first["items"]) == (len(rows), rows[: first["limit"]])
            found[table] = [self._row(row) for row in rows]
        page: Json = in_common_form(found)
        return page

    async def checked_merges(self, view: Json) -> list[Json]:
        """Return `checked-merges` in the common form."""
        rows = await self.rows(
            "ci-metrics/checked-merges",
            days=view["days"],
            asOf=view["as_of"],
            repoKey=view.get("repo_key"),
            suite=view.get("suite"),
        )
        return [in_common_form(self._row(row)) for row in rows]

    async def broken_tests(self, view: Json) -> set[tuple[str, str, str]]:
        """Return the tests of `flakiest-tests?broken=true`."""
        rows = await self.rows(
            "ci-metrics/flakiest-tests",
            days=view["days"],
            asOf=view["as_of"],
            repoKey=view.get("repo_key"),
            suite=view.get("suite"),
            broken="true",
        )
        return {(row["repoKey"], row["suite"], row["testId"]) for row in rows}

    async def failures(self, view: Json, label: str | None = None) -> list[Json]:
        """Return `ci-failures` in the common form."""
        rows = await self.rows(
            "ci-failures",
            days=view["days"],
            asOf=view["as_of"],
            repoKey=view.get("repo_key"),
            suite=view.get("suite"),
            label=label,
        )
        return [in_common_form(self._row(row)) for row in rows]

    def _row(self, row: Json) -> Json:
        """Turn ids into natural keys, the same for the same id and different for others."""
        row = dict(row)
        if "id" in row:
            key = generator.natural_key(row)
            assert self.keys.setdefault(row["id"], key) == key
            row["id"] = key
        if "firstFailure" in row:
            assert row.pop("label") == "resolved"
            row["firstFailure"] = self._run(row, row["firstFailure"] | {"boxKey": row["boxKey"]})
            del row["firstFailure"]["boxKey"]
        if "firstRun" in row:
            row["firstRun"] = self._run(row, row["firstRun"])
        assert row.pop("known", None) is None  # nobody made a rule
        if row.get("groupId") is not None:
            row["groupId"] = self.keys.get(row["groupId"], row["groupId"])
        if row.get("review") is not None:
            row["review"] = {name: row["review"][name] for name in ("action", "by")}
        return row

    def _run(self, row: Json, run: Json) -> Json:
        """Leave a run's id out, once it is seen to be that of the run and of no other."""
        record = (row["repoKey"], run["runId"], run["runAttempt"], run["boxKey"])
        assert self.records.setdefault(run["runRecordId"], record) == record
        return {name: value for name, value in run.items() if name != "runRecordId"}


TABLES = {
    "uncheckedMerges": "unchecked-merges",
    "realBugs": "real-bugs",
    "otherFailures": "other-failures",
    "flakiestTests": "flakiest-tests",
}


def of_reference(row: Json) -> Json:
    """Leave out of a reference's row what the server says with ids of its own."""
    row = dict(row)
    for run in {"firstFailure", "firstRun"} & row.keys():
        row[run] = {name: value for name, value in row[run].items() if name != "runRecordId"}
    if row.get("review") is not None:
        row["review"] = {name: row["review"][name] for name in ("action", "by")}
    found: Json = in_common_form(row)
    return found


def in_common_form(value: Any) -> Any:
    """Turn written times into instants, at any depth."""
    if isinstance(value, dict):
        return {
            name: datetime.fromisoformat(inner)
            if name in TIMES and isinstance(inner, str) and inner[10:11] == "T"
            else in_common_form(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [in_common_form(inner) for inner in value]
    return value
