# SPDX-License-Identifier: Apache-2.0
"""A server whose clock can be moved, with boxes that are installed, as run records are tested."""

from typing import Any
from uuid import UUID

from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import Hands, RunningServer, report

_OF_REPORTS_ONLY = ("box_key", "tests", "ended_at", "conclusion", "hello_ok")


class Benches:
    """A server, and requests of its owner, its CI and its boxes."""

    def __init__(self, server: RunningServer, hands: Hands) -> None:
        self.server = server
        self.hands = hands
        self._signed_in_at = hands.now
        self._token = server.token

    @property
    def token(self) -> str:
        """An access token of the owner that works, however the clock was moved."""
        if self._signed_in_at != self.hands.now:
            body = {"email": self.server.email, "password": self.server.password}
            answer = ask(self.server.url, "POST", "/api/auth/login", json_body=body)
            self._signed_in_at, self._token = self.hands.now, answer.json["accessToken"]
        return self._token

    def installed(self, name: str) -> str:
        """Create and install a box; return its key."""
        made = self.member("POST", "boxes", {"name": name})
        body = {"installToken": made.json["installToken"]}
        answer = ask(self.server.url, "POST", "/api/boxes/install", json_body=body)
        return str(answer.json["apiKey"])

    def member(self, method: str, path: str, body: Any = None) -> Reply:
        address = f"/api/orgs/{self.server.org_id}/{path}"
        return ask(self.server.url, method, address, bearer(self.token), json_body=body)

    def report(self, **fields: Any) -> Reply:
        key = ci_key(self.server.ci_key)
        body = report(**{**self.times(), **fields})
        return ask(self.server.url, "POST", "/api/ci/run-report", key, json_body=body)

    def configure(self, **fields: Any) -> None:
        """Configure the product of the reports, or another one."""
        body = {
            "repo_key": "acme/firmware",
            "suite": "hardware",
            "firmware_paths": ["src/**"],
            "harness_paths": [],
            "merge_trigger": True,
            **fields,
        }
        key = ci_key(self.server.ci_key)
        sent = ask(self.server.url, "PUT", "/api/ci/suite-config", key, json_body=body)
        assert sent.status == 204, sent.body

    def open(self, key: str, **fields: Any) -> Reply:
        return ask(
            self.server.url, "POST", "/api/box/runs", ci_key(key), json_body=self.head(**fields)
        )

    def opened(self, key: str, **fields: Any) -> str:
        reply = self.open(key, **fields)
        assert reply.status == 201
        return str(UUID(reply.json["id"]))

    def feed(self, key: str, run: str, *tests: dict[str, Any]) -> Reply:
        events = [{"type": "test", **test} for test in tests]
        path = f"/api/box/runs/{run}/events"
        return ask(self.server.url, "POST", path, ci_key(key), json_body={"events": events})

    def beat(self, key: str) -> Reply:
        return ask(self.server.url, "POST", "/api/box/heartbeat", ci_key(key))

    def show(self, run: str) -> Any:
        reply = self.member("GET", f"runs/{run}")
        assert reply.status == 200
        return reply.json

    def listed(self, query: str = "") -> list[Any]:
        reply = self.member("GET", f"runs?limit=100{query}")
        assert reply.status == 200
        assert reply.json["total"] == len(reply.json["items"])
        return list(reply.json["items"])

    def head(self, **fields: Any) -> dict[str, Any]:
        """Return the head of a live run: what is known of its report at the start."""
        whole = report(**self.times())
        known = {name: value for name, value in whole.items() if name not in _OF_REPORTS_ONLY}
        return {**known, **fields}

    def times(self) -> dict[str, str]:
        now = self.hands.now.replace(microsecond=0)
        return {"started_at": now.isoformat(), "ended_at": now.isoformat()}
