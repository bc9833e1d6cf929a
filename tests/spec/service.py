# SPDX-License-Identifier: Apache-2.0
"""An organization of its own on a real server, told and asked over HTTP.

Names stand for commits: `sha("fix")` is a whole hash. Times are hours after `START`, and the page
is opened at `AS_OF`, so that no test depends on the day it runs.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from hwci.server.app import SetCiMetrics
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import RunningServer

Json = dict[str, Any]

START = datetime(2026, 3, 1, tzinfo=UTC)
AS_OF = "2026-03-30T00:00:00Z"
REPO = "acme/firmware"
SUITE = "hardware"
ANNOUNCE = ("POST", "/api/ci/merge-announce")
REPORT = ("POST", "/api/ci/run-report")
CONFIGURE = ("PUT", "/api/ci/suite-config")


def sha(name: str) -> str:
    return sha1(name.encode(), usedforsecurity=False).hexdigest()


def at(hour: float) -> str:
    return (START + timedelta(hours=hour)).isoformat()


def item(test: str, outcome: str, **fields: Any) -> Json:
    return {"id": test, "outcome": outcome, "attempts": 1, "duration_s": 1.5, **fields}


def passed(test: str = "boot", **fields: Any) -> Json:
    return item(test, "pass", **fields)


def failed(test: str = "boot", **fields: Any) -> Json:
    return item(test, "fail", **{"verdict": "device", **fields})


def commit(name: str, *files: str, **fields: Any) -> Json:
    return {"sha": sha(name), "subject": f"Change {name}", "files": list(files), **fields}


def changes(base: str | None, *commits: Json, **fields: Any) -> Json:
    base_sha = None if base is None else sha(base)
    return {"base_sha": base_sha, "commits": list(commits), **fields}


def announcement(name: str = "merge", **fields: Any) -> Json:
    return {
        "repo_key": REPO,
        "sha": sha(name),
        "branch": "main",
        "merged_at": at(0),
        **fields,
    }


def report(name: str = "commit", hour: float = 1, *items: Json, **fields: Any) -> Json:
    """A report of a run on a commit; a run of each hour has an id of its own."""
    return {
        "repo_key": REPO,
        "workflow": SUITE,
        "run_id": int(hour * 3600),
        "run_attempt": 1,
        "trigger": "merge",
        "branch": "main",
        "sha": sha(name),
        "started_at": at(hour),
        "ended_at": at(hour + 0.5),
        "conclusion": "success",
        "hello_ok": True,
        "box_key": "bench-1",
        "tests": list(items),
        **fields,
    }


def configuration(**fields: Any) -> Json:
    return {
        "repo_key": REPO,
        "suite": SUITE,
        "firmware_paths": ["src/**"],
        "harness_paths": ["ci/**"],
        "merge_trigger": True,
        **fields,
    }


@dataclass(frozen=True)
class Service:
    """One organization, the access token of someone in it, and a CI key of it."""

    url: str
    org_id: UUID
    token: str
    key: str

    def send(self, endpoint: tuple[str, str], body: Any, key: str | None = None) -> Reply:
        """Send a CI body, good or bad."""
        method, path = endpoint
        return ask(self.url, method, path, ci_key(key or self.key), json_body=body)

    def announce(self, name: str = "merge", **fields: Any) -> None:
        self._tell(ANNOUNCE, announcement(name, **fields))

    def report(self, name: str = "commit", hour: float = 1, *items: Json, **fields: Any) -> None:
        self._tell(REPORT, report(name, hour, *items, **fields))

    def configure(self, **fields: Any) -> None:
        self._tell(CONFIGURE, configuration(**fields))

    def _tell(self, endpoint: tuple[str, str], body: Json) -> None:
        reply = self.send(endpoint, body)
        assert (reply.status, reply.body) == (204, b"")

    def ask(self, method: str, path: str, body: Any = None, **query: object) -> Reply:
        """Ask as a user for something of the organization."""
        address = f"/api/orgs/{self.org_id}/{path}?{urlencode(query)}"
        return ask(self.url, method, address, bearer(self.token), json_body=body)

    def get(self, path: str, **query: object) -> Any:
        reply = self.ask("GET", path, **query)
        assert reply.status == 200, reply.body
        return reply.json

    def page(self, **query: object) -> Any:
        """Open the metrics page."""
        return self.get("ci-metrics", **{"asOf": AS_OF, "days": 365, **query})

    def tiles(self, **query: object) -> Any:
        return self.page(**query)["tiles"]

    def resolved(self) -> list[Json]:
        """Return the rows of both tables of resolved failures."""
        page = self.page()
        return [*page["realBugs"]["items"], *page["otherFailures"]["items"]]

    def labels(self) -> dict[tuple[str, str], str]:
        """Return the label of each failure by test and commit."""
        found = self.get("ci-failures", asOf=AS_OF, days=365, limit=100)["items"]
        return {(failure["testId"], failure["sha"]): failure["label"] for failure in found}

    def failure_id(self, test: str, name: str) -> str:
        found = self.get("ci-failures", asOf=AS_OF, days=365, limit=100)["items"]
        ids = [one["id"] for one in found if (one["testId"], one["sha"]) == (test, sha(name))]
        return str(ids[0])

    def review(self, failure: str, action: str) -> Reply:
        return self.ask("POST", f"ci-failures/{failure}/{action}")

    def acting(self, token: str) -> "Service":
        """Return the same organization as someone else sees it."""
        return replace(self, token=token)


def of_server(server: RunningServer) -> Service:
    """Return the organization that the server starts with: it has an owner, an admin, a member."""
    return Service(server.url, server.org_id, server.token, server.ci_key)


def new_service(server: RunningServer, *, enabled: bool = True) -> Service:
    """Make an organization of its own, with CI Metrics on, and a key."""
    owner = bearer(server.token)
    made = ask(server.url, "POST", "/api/orgs", owner, json_body={"name": "A row"}).json
    org_id = UUID(made["id"])
    if enabled:
        server.operate(SetCiMetrics(org_id=org_id, enabled=True))
    path = f"/api/orgs/{org_id}/ci-keys"
    key = ask(server.url, "POST", path, owner, json_body={"name": "ci"}).json["apiKey"]
    return Service(server.url, org_id, server.token, key)
