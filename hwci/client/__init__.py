# SPDX-License-Identifier: Apache-2.0
"""The typed client: `client.send(calls.metrics(org_id))`, synchronous or asynchronous.

`calls` has one function per endpoint; each gives a `Call`, a value that says what to send and
what the answer is. `Client` and `AsyncClient` send calls and know no endpoint. Errors stand in
`errors`. Importing this package imports none of these until they are asked for, so that a
synchronous caller never pays for aiohttp.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hwci.client import calls, errors
    from hwci.client._aio import AsyncClient
    from hwci.client._call import Call
    from hwci.client._sync import Client

__all__ = ["AsyncClient", "Call", "Client", "calls", "errors"]

_HOMES = {"AsyncClient": "_aio", "Call": "_call", "Client": "_sync"}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
