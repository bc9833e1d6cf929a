# SPDX-License-Identifier: Apache-2.0
"""The bench store: one file with the reports that the server does not have yet, and with what a
bench remembers of its runs (ADR 0020). `BenchStore` is all that others need of it.
"""

from hwci.client.store.bench import ASKED_MAX_S, BenchStore, bench_store, fingerprint_of, no_place
from hwci.client.store.memory import JobOfBuild, PastRuns, ReportedRun, RunSeries
from hwci.client.store.pending import UNKNOWN, PendingReport, StoreError

__all__ = [
    "ASKED_MAX_S",
    "UNKNOWN",
    "BenchStore",
    "JobOfBuild",
    "PastRuns",
    "PendingReport",
    "ReportedRun",
    "RunSeries",
    "StoreError",
    "bench_store",
    "fingerprint_of",
    "no_place",
]
