# SPDX-License-Identifier: Apache-2.0
"""Bisections over HTTP: who may ask, and how (contract, "Answers beside the rules")."""

from typing import Any

import pytest

from hwci.client import Client, calls
from hwci.client.errors import ForbiddenError, NotFoundError
from hwci.wire.accounts import KeyProduct
from tests.support.asking import ask, bearer
from tests.support.running import RunningServer
from tests.support.scene import REPO, SUITE, A, B, D, play

OF_SPI: dict[str, Any] = {"test_id": "spi", "repo_key": REPO, "suite": SUITE}


def test_both_ends_are_named_or_neither(server: RunningServer) -> None:
    play(server)
    path = (
        f"/api/orgs/{server.org_id}/ci-analysis/bisection?repoKey={REPO}&suite={SUITE}&testId=spi"
    )
    for one in (f"good={A}", f"bad={D}"):
        refused = ask(server.url, "GET", f"{path}&{one}", bearer(server.token))
        assert refused.status == 400
        assert "both `good` and `bad`, or neither" in str(refused.json)
    neither = calls.bisection(
        server.org_id, test_id="spi", good=None, bad=None, repo_key=REPO, suite=SUITE
    )
    both = calls.bisection(
        server.org_id, test_id="spi", good=A, bad=D, repo_key=REPO, suite=SUITE, boxes=2
    )
    with Client(server.url, token=server.token) as person:
        assert person.send(neither).missing == "no_range"
        found = person.send(both).found
        assert found is not None
        named = f"--product {REPO}:{SUITE} --good {A} --bad {D}"
        assert found.then == f"hwci bisect next spi {named} --boxes 2"


def test_a_bisection_is_told_to_who_may_see_the_product(server: RunningServer) -> None:
    play(server)
    asked = calls.bisection(
        server.org_id, test_id="spi", good=A[:7].upper(), bad=D, repo_key=REPO, suite=SUITE
    )
    with Client(server.url, token=server.token) as person:
        found = person.send(asked).found
        keys = [
            person.send(
                calls.create_reader_key(
                    server.org_id, suite, [KeyProduct(repo_key=REPO, suite=suite)]
                )
            ).api_key
            for suite in (SUITE, "boot")
        ]
        with pytest.raises(NotFoundError):
            person.send(
                calls.bisection(
                    server.org_id, test_id="spi", good=A, bad=D, repo_key=REPO, suite="unheard"
                )
            )
    with Client(server.url, reader_key=keys[0]) as bound:
        assert bound.send(asked).found == found
    with Client(server.url, reader_key=keys[1]) as other, pytest.raises(ForbiddenError):
        other.send(asked)

    assert found is not None
    assert [one.sha for one in found.commits][:2] == [A, B]
    assert [(one.failed, one.runs) for one in found.commits] == [(0, 1), (1, 1), (1, 1), (0, 1)]
