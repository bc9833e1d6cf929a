# SPDX-License-Identifier: Apache-2.0
"""The largest and smallest numbers and times that the contract takes, sent in any mixture: each
`GET` route of the organization still answers, so no sum and no difference passes its type.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hwci.server.app import SetCiMetrics
from hwci.server.routes.table import ROUTES
from hwci.wire import limits
from tests.server.matrix import A_BOX, A_TEST
from tests.support.asking import Header, ask, bearer, ci_key
from tests.support.running import (
    RunningServer,
    report,
    running_in_thread,
)
from tests.support.soak import rounds

EXAMPLES = rounds(4, 150)
FIRST, LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"
TIMES = (FIRST, "1969-12-31T23:59:59.999999Z", "2026-03-01T12:00:00+14:00", LAST)
NUMBERS = (0, 1, 2**31, 2**53 + 1, limits.INTEGER_MAX)
QUERIES: tuple[dict[str, object], ...] = (
    {},
    {"days": 1, "asOf": FIRST},
    {"days": limits.DAYS_MAX, "asOf": TIMES[2]},
    {"days": limits.DAYS_MAX, "asOf": LAST},
    {"days": 1, "asOf": LAST, "page": limits.INTEGER_MAX, "limit": limits.PAGE_LIMIT_MAX},
)
REPO, TEST, BOX = "acme/firmware", "i2c", "bench-1"
COMMITS = ("a" * 40, "b" * 40, "c" * 40)
NEEDED = {"box": A_BOX, "bisection": A_TEST, "test": A_TEST}

times, counts = st.sampled_from(TIMES), st.sampled_from(NUMBERS)
positives = st.sampled_from(NUMBERS[1:])
attempts = st.sampled_from((1, 2, limits.ATTEMPTS_MAX))
durations = st.sampled_from((0.0, 5e-324, 0.1, limits.DURATION_MAX))
commits = st.sampled_from(COMMITS)
items = st.fixed_dictionaries(
    {
        "id": st.just(TEST),
        "outcome": st.sampled_from(("pass", "fail", "fail")),
        "attempts": attempts,
        "duration_s": durations,
        "verdict": st.sampled_from(("device", "infra", "unknown")),
    }
)
changes = st.fixed_dictionaries(
    {
        "base_sha": st.none() | commits,
        "commits": st.lists(
            st.fixed_dictionaries(
                {
                    "sha": commits,
                    "subject": st.just("s"),
                    "committed_at": times,
                    "files": st.sampled_from((["src/a.c"], ["hil/a.py"], [])),
                }
            ),
            max_size=2,
            unique_by=lambda commit: commit["sha"],
        ),
    }
)
parts = st.fixed_dictionaries(
    {"run_id": counts, "part": st.just(1), "parts": positives},
)
heads = {
    "repo_key": st.just(REPO),
    "workflow": st.just("hil"),
    "suite": st.just("hardware"),
    "run_id": counts,
    "run_attempt": positives,
    "trigger": st.sampled_from(("merge", "nightly", "manual")),
    "branch": st.just("main"),
    "sha": commits,
    "started_at": times,
}
more = {"changes": changes, "ci_run": counts, "covers_shas": st.lists(commits, max_size=2)}
reports = st.fixed_dictionaries(
    {
        **heads,
        "ended_at": times,
        "conclusion": st.just("success"),
        "hello_ok": st.sampled_from((True, True, False)),
        "box_key": st.sampled_from((BOX, "bench-2")),
        "tests": st.lists(items, max_size=1),
    },
    optional={**more, "part_of": parts},
)
merges = st.fixed_dictionaries(
    {
        "repo_key": st.just(REPO),
        "suite": st.just("hardware"),
        "branch": st.just("main"),
        "sha": commits,
        "merged_at": times,
    }
)
configurations = st.fixed_dictionaries(
    {
        "repo_key": st.just(REPO),
        "suite": st.just("hardware"),
        "firmware_paths": st.just(["src/**"]),
        "harness_paths": st.just(["hil/**"]),
        "merge_trigger": st.booleans(),
        "targets": st.fixed_dictionaries(
            {name: st.sampled_from((0, 5e-324, 100)) for name in ("merges_checked", "infra_runs")}
        ),
    }
)
SENT = (
    ("POST", "/api/ci/run-report", reports),
    ("POST", "/api/ci/run-report", reports),
    ("POST", "/api/ci/merge-announce", merges),
    ("PUT", "/api/ci/suite-config", configurations),
)
sendings = st.lists(
    st.one_of(*(st.tuples(st.just(way), st.just(path), body) for way, path, body in SENT)),
    min_size=2,
    max_size=12,
)
live_runs = st.tuples(
    st.fixed_dictionaries(heads, optional=more),
    st.lists(
        st.fixed_dictionaries(
            {"type": st.just("test"), "id": st.just(TEST), "outcome": st.just("fail")},
            optional={"attempts": attempts},
        ),
        max_size=2,
    ),
)


@dataclass(frozen=True)
class Tenant:
    """An organization of its own for each example, so that one finds what the next one did."""

    url: str
    org_id: str
    owner: Header
    ci: Header = ("", "")
    box: Header = ("", "")

    def tell(self, method: str, path: str, by: Header, body: object) -> Any:
        """Send what the contract takes."""
        reply = ask(self.url, method, path, by, json_body=body)
        assert reply.status < 300, (path, body, reply.body)
        return reply.json if reply.body else None

    def get(self, path: str) -> Any:
        """Ask, and return the answer where there is one."""
        reply = ask(self.url, "GET", path, self.owner)
        assert reply.status in {200, 400, 404}, (path, reply.body)
        return reply.json if reply.status == 200 else None


def founded(server: RunningServer) -> Tenant:
    owner = bearer(server.token)

    def made(path: str, body: object, by: Header = owner) -> Any:
        reply = ask(server.url, "POST", path, by, json_body=body)
        assert reply.status == 201, reply.body
        return reply.json

    org_id = made("/api/orgs", {"name": f"Extreme {uuid4()}"})["id"]
    server.operate(SetCiMetrics(org_id=UUID(org_id), enabled=True))
    path = f"/api/orgs/{org_id}"
    key = made(f"{path}/ci-keys", {"name": "ci"})["apiKey"]
    token = made(f"{path}/boxes", {"name": BOX})["installToken"]
    reply = ask(server.url, "POST", "/api/boxes/install", json_body={"installToken": token})
    return Tenant(server.url, org_id, owner, ci_key(key), ci_key(reply.json["apiKey"]))


def addresses(tenant: Tenant) -> Iterator[str]:
    """Yield the address of each `GET` route of the organization that ends, with each query that it
    takes.
    """
    org = f"/api/orgs/{tenant.org_id}"
    runs = tenant.get(f"{org}/runs?limit=100")["items"]
    failures = tenant.get(f"{org}/ci-failures?{urlencode(QUERIES[3] | {'limit': 100})}")["items"]
    for route in ROUTES:
        if (
            route.method != "GET"
            or not route.path.startswith("/api/orgs/{orgId}/")
            or route.path.endswith(("/stream", "/ws", "/fleet"))  # they answer no JSON
        ):
            continue
        path = route.path.replace("{orgId}", tenant.org_id)
        needed = NEEDED.get(path.rsplit("/", 1)[-1], "")
        known = set() if route.query is None else {*route.query.model_json_schema()["properties"]}
        queries = {
            urlencode({name: value for name, value in query.items() if name in known})
            for query in QUERIES
        }
        for thing, rows in (("{runId}", runs), ("{failureId}", failures)):
            if thing in path:
                paths = [path.replace(thing, quote(row["id"])) for row in rows[:3]]
                break
        else:
            paths = [path]
        for one in paths:
            for query in sorted(queries):
                parts = [part for part in (needed.lstrip("?"), query) if part]
                yield f"{one}?{'&'.join(parts)}" if parts else one


def test_many_runs_from_the_first_to_the_last_instant_stop_no_route(server: RunningServer) -> None:
    """So many that a flaky test, its cause and its box have figures."""
    tenant = founded(server)
    for number in range(60):
        item = {
            "id": TEST,
            "outcome": "fail" if number % 3 else "pass",
            "attempts": limits.ATTEMPTS_MAX,
            "duration_s": limits.DURATION_MAX,
        }
        times = {"started_at": FIRST if number % 2 else TIMES[2], "ended_at": LAST}
        body = report(
            run_id=number, suite="hardware", sha=f"{number // 3:040x}", tests=[item], **times
        )
        tenant.tell("POST", "/api/ci/run-report", tenant.ci, body)

    for address in addresses(tenant):
        tenant.get(address)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("extreme")
    with running_in_thread(folder) as running:
        yield running


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # each try asks two hundred addresses: the smallest would take minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(sent=sendings, live=live_runs, noted_at=times)
def test_whatever_the_contract_takes_each_route_answers(
    server: RunningServer, sent: list[tuple[str, str, Any]], live: tuple[Any, Any], noted_at: str
) -> None:
    tenant = founded(server)
    head, events = live
    opened = tenant.tell("POST", "/api/box/runs", tenant.box, head)
    path = f"/api/box/runs/{opened['id']}/events"
    tenant.tell("POST", path, tenant.box, {"events": events})
    for method, path, body in sent:
        tenant.tell(method, path, tenant.ci, body)
    note = {"boxKey": BOX, "text": "new cable", "at": noted_at}
    tenant.tell("POST", f"/api/orgs/{tenant.org_id}/box-notes", tenant.owner, note)

    asked = [tenant.get(address) is not None for address in addresses(tenant)]

    assert any(asked)
