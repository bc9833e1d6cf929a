# SPDX-License-Identifier: Apache-2.0
"""What answers beside the rules take on the results of six real boards (`tests/support`), which the
real command has reported to a server.
"""

import json
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from benchmarks.figure import Figure, milliseconds
from benchmarks.serving import SignedIn, signed_in
from hwci.server.app.sweeping import DECISIONS_SECONDS
from tests.support.real_results import real_results, report_version
from tests.support.running import new_organization

AS_OF = "2026-07-25T00:00:00Z"
"""A day after the last version."""
DAYS = (90, 400)
ROUNDS = 5
ANSWERS = (
    *("page", "days", "trends", "times-to-fix", "incidents", "causes", "gaps", "merge-plan"),
    *("unchecked-merges", "boxes", "box", "flaky-tests", "test", "bisection"),
)


def boards() -> Iterator[Figure]:
    """Measure each answer by the time of the server's processor, and over HTTP."""
    with TemporaryDirectory() as folder:
        database = Path(folder, "hwci.db")
        org_id = new_organization(database)
        with signed_in(str(database), org_id) as server:
            variables = {"HWCI_URL": server.process.url, "HWCI_CI_KEY": server.ci_key}
            for number, version in enumerate(real_results(), start=1):
                report_version(number, version, **variables)
            _read(server, org_id, "ci-metrics", DAYS[-1])
            time.sleep(2 * DECISIONS_SECONDS)
            for days in DAYS:
                yield from _figures(server, org_id, days)


def _figures(server: SignedIn, org_id: UUID, days: int) -> Iterator[Figure]:
    box = _read(server, org_id, "ci-analysis/boxes", days)["boxes"][0]["boxKey"]
    [row, *_] = _read(server, org_id, "ci-analysis/flaky-tests", days)["items"]
    test = {name: row[name] for name in ("repoKey", "suite", "testId")}
    also = {"box": {"boxKey": box}, "test": test, "bisection": test}
    for name in ANSWERS:
        spent, waited = [], []
        for _ in range(ROUNDS):
            before, begun = server.process.processor_seconds(), time.perf_counter()
            _read(server, org_id, f"ci-analysis/{name}", days, **also.get(name, {}))
            waited.append(time.perf_counter() - begun)
            spent.append(server.process.processor_seconds() - before)
        told = f"of the processor; {milliseconds(waited)} over HTTP"
        yield Figure(f"{name}, {days} days of six boards", milliseconds(spent), told)


def _read(server: SignedIn, org_id: UUID, path: str, days: int, **also: str) -> Any:  # noqa: ANN401 - JSON
    query = urlencode({"days": days, "asOf": AS_OF, **also})
    reply = server.person.ask(f"/api/orgs/{org_id}/{path}?{query}")
    assert reply.status == HTTPStatus.OK, reply
    return json.loads(reply.body)
