# SPDX-License-Identifier: Apache-2.0
"""A client of an application alone, on the server that hwci runs: `await spec_client(app)`. What
`aiohttp_client` of pytest-aiohttp would start by itself answers malformed requests in its own way.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from pytest_aiohttp.plugin import AiohttpClient

from hwci.server.http.connections.runner import SpecRunner

SpecClient = Callable[[web.Application], Awaitable[TestClient[Any, Any]]]


class _Server(TestServer):
    async def _make_runner(self, **_: Any) -> web.BaseRunner:
        return SpecRunner(self.app)


@pytest.fixture
def spec_client(aiohttp_client: AiohttpClient) -> SpecClient:
    """Start an application, and stop it when the test ends."""
    return lambda app: aiohttp_client(_Server(app))
