# SPDX-License-Identifier: Apache-2.0
"""The server keeps to its own OpenAPI document, whatever is sent: schemathesis makes requests from
it, good and bad, in all its phases, and compares every answer with what the document promises.

No answer is a 5xx, has a status, a header or a body that is not described, or takes what the schema
refuses; a method that is not there is 405 with `Allow`. Bounded and seeded, so that CI can run it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import Failure
from schemathesis.engine import Status, events, from_schema
from schemathesis.hooks import unregister
from schemathesis.openapi.checks import EnsureResourceAvailability

from hwci.server.routes.table import ROUTES
from tests.support.asking import ask, bearer
from tests.support.running import RunningServer, running_in_thread
from tests.support.scene import play
from tests.support.soak import rounds

SEED = 7
PHASES = ("examples", "coverage", "fuzzing", "stateful")
TRIED, EXAMPLES = rounds((("examples", "fuzzing"), 1), (PHASES, 4))
"""In `make soak` also what breaks each rule of the schema in turn, and what follows links from
answer to answer.
"""
CAME_TO_ITS_END = (Status.SUCCESS, Status.FAILURE)  # the failures are gathered one by one
REFUSALS = [400, 401, 403, 404, 405, 409, 413, 415, 429]
"""What a request gets that breaks the schema. 413: a list that is too long can make the whole body
too large.
"""
# They do not end: tests of their own cut and resume them.
STREAMS = ("/runs/stream", "/runs/ws")
# Rules between fields (a suite needs its repository, parts are counted) and between types (2.0 is
# no integer, text holds no U+0000) are beyond a schema, which lets through what they refuse.
BEYOND_A_SCHEMA = ("positive_data_acceptance",)


@dataclass
class Findings:
    """What a run asked and found; `failures` and `errors` are for people."""

    asked: set[str] = field(default_factory=set)
    statuses: set[int] = field(default_factory=set)
    phases: set[str] = field(default_factory=set)
    failures: set[str] = field(default_factory=set)
    errors: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Fuzzed:
    """A server with something in it, and the key of a box."""

    server: RunningServer
    box_key: str

    def config(self, token: str, phases: Sequence[str], examples: int) -> dict[str, Any]:
        return {
            "seed": SEED,
            "base-url": self.server.url,
            "continue-on-failure": True,
            "suppress-health-check": ["too_slow"],  # a busy machine proves nothing
            "request-timeout": 60,
            "generation": {"max-examples": examples, "no-shrink": True, "database": "none"},
            "parameters": {"path.orgId": str(self.server.org_id), "path.provider": "nowhere"},
            "auth": {
                "openapi": {
                    "accessToken": {"bearer": token},
                    "ciKey": {"api_key": self.server.ci_key},
                    "boxKey": {"api_key": self.box_key},
                }
            },
            "checks": {
                **{name: {"enabled": False} for name in BEYOND_A_SCHEMA},
                "negative_data_rejection": {"expected-statuses": REFUSALS},
            },
            "phases": {name: {"enabled": name in phases} for name in PHASES},
        }


@pytest.fixture
def fuzzed(tmp_path: Path) -> Iterator[Fuzzed]:
    providers = tmp_path / "sso.toml"
    # Nobody answers there.
    providers.write_text(
        '[providers.nowhere]\ntitle = "Nowhere"\nissuer = "http://127.0.0.1:9"\n'
        'client_id = "hwci"\nclient_secret = "hush"\n'
    )
    providers.chmod(0o600)
    with running_in_thread(tmp_path, sso_file=providers) as server:
        play(server)
        box = made(server, f"/api/orgs/{server.org_id}/boxes", {"name": "bench-9"})
        installed = made(server, "/api/boxes/install", {"installToken": box["installToken"]})
        yield Fuzzed(server, installed["apiKey"])


def made(server: RunningServer, path: str, body: dict[str, str]) -> Any:
    reply = ask(server.url, "POST", path, bearer(server.token), json_body=body)
    assert reply.status == 201
    return reply.json


def fuzz(fuzzed: Fuzzed, token: str, phases: Sequence[str], examples: int) -> Findings:
    """Ask everything that the document describes, and gather what does not fit it."""
    schema = schemathesis.openapi.from_dict(
        ask(fuzzed.server.url, "GET", "/api/openapi.json").json,
        config=SchemathesisConfig.from_dict(fuzzed.config(token, phases, examples)),
    ).exclude(path_regex=f"({'|'.join(STREAMS)})$")
    found = Findings()
    with staying(fuzzed.server, token):
        for event in from_schema(schema).execute():
            note(event, found)
    return found


def note(event: events.EngineEvent, found: Findings) -> None:
    if isinstance(event, events.ScenarioFinished):
        gather(event, found)
    elif isinstance(event, events.NonFatalError):
        found.errors.add(f"{event.label}: {event.value}")
    elif isinstance(event, events.FatalError):
        found.errors.add(str(event.exception))
    elif isinstance(event, events.PhaseFinished) and event.status in CAME_TO_ITS_END:
        found.phases.add(event.phase.name.value)


@contextmanager
def staying(server: RunningServer, token: str) -> Iterator[None]:
    """Keep the asker signed in and in the organization while the block runs. Answers name its
    members, of whom some are made owners and some are removed, and the asker's sessions, which are
    ended: with the luck of the ids from then on everything is 404 or 401. What would be done to the
    asker is done to another member, and what to the asker's session to one that is not there.
    """
    members = ask(server.url, "GET", f"/api/orgs/{server.org_id}/members", bearer(token)).json
    own = ask(server.url, "GET", "/api/auth/me", bearer(token)).json["user"]["id"]
    ids = [member["user"]["id"] for member in members["items"]]
    sessions = ask(server.url, "GET", "/api/auth/sessions", bearer(token)).json["items"]
    session = next(one["id"] for one in sessions if one["current"])
    another = next(user_id for user_id in ids if user_id != own)

    def before_call(_: schemathesis.HookContext, case: schemathesis.Case[Any], **__: Any) -> None:
        if case.path_parameters.get("userId") == own:
            case.path_parameters["userId"] = another
        if case.path_parameters.get("sessionId") == session:
            case.path_parameters["sessionId"] = str(uuid4())

    schemathesis.hook(before_call)
    try:
        yield
    finally:
        unregister(before_call)


def gather(event: events.ScenarioFinished, found: Findings) -> None:
    recorder = event.recorder
    for case_id, interaction in recorder.interactions.items():
        found.asked.add(recorder.cases[case_id].value.operation.label)
        if interaction.response is not None:
            found.statuses.add(interaction.response.status_code)
    for checks in recorder.checks.values():
        for check in checks:
            if check.failure_info is None or is_of_another(check.failure_info.failure):
                continue
            failure = check.failure_info.failure
            found.failures.add(
                f"{check.name}: {failure.operation}: {failure.title}\n{failure.message}\n"
                f"{check.failure_info.code_sample}"
            )


def is_of_another(failure: Failure) -> bool:
    """Return whether it is said to lack in an organization that was just made: it lacks in the one
    that all requests name (`path.orgId`), which has other members and boxes.
    """
    return (
        isinstance(failure, EnsureResourceAvailability) and failure.created_with == "POST /api/orgs"
    )


def described() -> set[str]:
    return {f"{route.method} {route.path}" for route in ROUTES if not route.path.endswith(STREAMS)}


def test_whatever_an_owner_a_ci_and_a_box_send_is_answered_as_the_document_says(
    fuzzed: Fuzzed,
) -> None:
    found = fuzz(fuzzed, fuzzed.server.token, TRIED, EXAMPLES)

    assert "\n\n".join(sorted(found.failures | found.errors)) == ""
    assert found.asked == described()
    assert {*TRIED[1:]} <= {phase.lower() for phase in found.phases}
    assert {200, 201, 204, 400, 401, 404, 409, *rounds((), (405, 415))} <= found.statuses


def test_whatever_a_member_sends_is_answered_as_the_document_says(fuzzed: Fuzzed) -> None:
    found = fuzz(fuzzed, fuzzed.server.member_token, ("fuzzing",), rounds(1, 3))

    assert "\n\n".join(sorted(found.failures | found.errors)) == ""
    assert found.asked == described()
    assert 403 in found.statuses
