# SPDX-License-Identifier: Apache-2.0
"""Answers beside the rules change no answer of the specification (ADR 0009): it is the same to the
byte before they are asked, after it, and on a server that does not have them.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from hwci.server.app import Server, serving
from hwci.server.routes.table import ROUTES
from hwci.wire.endpoint import Endpoint
from hwci.wire.endpoints import analysis
from tests.server.exports import fill_server
from tests.support.asking import ask, bearer
from tests.support.running import Hands, RunningServer, in_thread, running_in_thread, settings_of

ANALYSIS = [it for it in vars(analysis).values() if isinstance(it, Endpoint)]
APART = {route: handler for route, handler in ROUTES.items() if route not in ANALYSIS}
PERIOD = urlencode({"days": 60, "asOf": "2026-03-20T00:00:00Z"})


def answers(
    url: str, server: RunningServer, routes: Iterable[Endpoint], ids: Mapping[str, str]
) -> dict[str, bytes]:
    """Return what each route that shows metrics answers, over all of the history."""
    found = {}
    for route in routes:
        if route.method != "GET" or not route.metrics:
            continue
        path = route.path.format(orgId=server.org_id, **ids)
        in_period = "{failureId}" not in route.path and "suite-configs" not in route.path
        query = f"?{PERIOD}" if in_period and not path.endswith("/products") else ""
        reply = ask(url, "GET", path + query, bearer(server.token))
        # Some of those beside need a test, and refuse to answer without one.
        assert reply.status == 200 or (reply.status == 400 and route in ANALYSIS), reply
        found[path] = reply.body
    return found


def one_failure(url: str, server: RunningServer) -> str:
    path = f"/api/orgs/{server.org_id}/ci-failures?label=resolved&{PERIOD}"
    return str(ask(url, "GET", path, bearer(server.token)).json["items"][0]["id"])


def test_answers_of_the_specification_are_the_same_with_and_without_those_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = Hands()
    with running_in_thread(tmp_path, clock=hands) as server:
        pass
    asyncio.run(fill_server(server))

    def again() -> AbstractContextManager[Server]:
        settings = settings_of(server.location, rate_limit="off", auth_rate_limit="off")
        return in_thread(serving(settings, clock=hands))

    with monkeypatch.context() as without:
        without.setattr("hwci.server.app.composition.ROUTES", APART)
        with again() as alone:
            ids = {"failureId": one_failure(alone.url, server)}
            plain = answers(alone.url, server, APART, ids)
            beside = ANALYSIS[0].path.format(orgId=server.org_id)
            assert ask(alone.url, "GET", beside, bearer(server.token)).status == 404
    with again() as whole:
        before = answers(whole.url, server, APART, ids)
        assert len(answers(whole.url, server, ANALYSIS, ids)) > 5
        after = answers(whole.url, server, APART, ids)

    assert plain == before
    assert before == after
