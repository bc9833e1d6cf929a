# SPDX-License-Identifier: Apache-2.0
"""Every endpoint of the server, one function each: a function returns a `Call`, a shell sends it.

A function takes the ids of its path, then the fields of the body, or the body where a program sends
it as a whole; the fields of the query by name. What is None is not sent: the server fills in its
default. Arguments that break the field rules raise `InvalidCallError` here, before anything is
sent. Streams of events are not calls: see `hwci.client.following`.

The functions are made from `hwci.wire.endpoints`, by the name of the endpoint; a subject is
imported when one of its functions is asked for. `calls.pyi` has their types.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from hwci.client._call import Call
from hwci.client._functions import function_of
from hwci.wire.endpoints import find


@cache
def __getattr__(name: str) -> Callable[..., Call[Any]]:
    endpoint = find(name.upper()) if name.islower() and not name.startswith("_") else None
    if endpoint is None or not endpoint.called:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return function_of(endpoint, name)
