# SPDX-License-Identifier: Apache-2.0
"""Pending reports and a bench store to keep them in."""

from typing import Any

from hwci.client.store import BenchStore, PendingReport
from hwci.wire.reports import RunReport

ADDRESS = "https://hwci.example.org"
OTHER_ADDRESS = "https://hwci.example.net"
KEY = "svc_" + "1" * 64
OTHER_KEY = "svc_" + "2" * 64


TEST: dict[str, Any] = {"id": "boot", "outcome": "pass", "attempts": 1, "duration_s": 1.5}
RUN: dict[str, Any] = {
    "repo_key": "acme/firmware",
    "workflow": "hardware",
    "run_id": 1,
    "run_attempt": 1,
    "trigger": "merge",
    "branch": "main",
    "sha": "a" * 40,
    "box_key": "bench-1",
    "started_at": "2026-01-31T09:00:00Z",
    "ended_at": "2026-01-31T10:00:00Z",
    "conclusion": "success",
    "hello_ok": True,
    "tests": [TEST],
}


def run_report(**fields: Any) -> RunReport:
    return RunReport.model_validate(RUN | fields, strict=False)


def pending(**fields: Any) -> PendingReport:
    return PendingReport.of(run_report(**fields))


def keep(
    store: BenchStore, address: str | None = ADDRESS, key: str = KEY, **fields: Any
) -> PendingReport:
    [kept] = store.keep([pending(**fields)], address, key)
    if kept.unkept is not None:
        raise kept.unkept
    return kept


def in_state(store: BenchStore, state: str) -> list[PendingReport]:
    return [one for one in store.reports() if one.state == state]


def waiting(store: BenchStore) -> list[PendingReport]:
    return in_state(store, "waiting")


def run_ids(store: BenchStore) -> list[int | None]:
    return [one.run_id for one in waiting(store)]


def states(store: BenchStore) -> list[tuple[str, int | None]]:
    return [(one.state, one.run_id) for one in store.reports()]
