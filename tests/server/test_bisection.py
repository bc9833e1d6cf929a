# SPDX-License-Identifier: Apache-2.0
"""Bisections over HTTP: who may ask, and how (contract, "Answers beside the rules")."""

import pytest

from hwci.client import Client, calls
from hwci.client.errors import ForbiddenError, NotFoundError
from hwci.wire.accounts import KeyProduct
from tests.support.running import RunningServer
from tests.support.scene import REPO, SUITE, A, B, D, play


def test_a_bisection_is_told_to_who_may_see_the_product(server: RunningServer) -> None:
    play(server)
    ask = calls.bisection(server.org_id, "spi", A[:7].upper(), D, repo_key=REPO, suite=SUITE)
    with Client(server.url, token=server.token) as person:
        found = person.send(ask).found
        keys = [
            person.send(
                calls.create_reader_key(
                    server.org_id, suite, [KeyProduct(repo_key=REPO, suite=suite)]
                )
            ).api_key
            for suite in (SUITE, "boot")
        ]
        with pytest.raises(NotFoundError):
            person.send(calls.bisection(server.org_id, "spi", A, D, repo_key=REPO, suite="unheard"))
    with Client(server.url, reader_key=keys[0]) as bound:
        assert bound.send(ask).found == found
    with Client(server.url, reader_key=keys[1]) as other, pytest.raises(ForbiddenError):
        other.send(ask)

    assert found is not None
    assert [one.sha for one in found.commits][:2] == [A, B]
    assert [(one.failed, one.runs) for one in found.commits] == [(0, 1), (1, 1), (1, 1), (0, 1)]
