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

from hwci.client._call import Call, body_of, call_of, query_of, written
from hwci.wire.endpoint import Endpoint
from hwci.wire.endpoints import find


@cache
def __getattr__(name: str) -> Callable[..., Call[Any]]:
    endpoint = find(name.upper()) if name.islower() and not name.startswith("_") else None
    if endpoint is None or not endpoint.called:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _function(name, endpoint)


def _function(name: str, endpoint: Endpoint) -> Callable[..., Call[Any]]:
    names = (*endpoint.ids, *_body_names(endpoint))

    def make(*given: Any, **fields: Any) -> Call[Any]:
        if not len(endpoint.ids) <= len(given) <= len(names):
            raise TypeError(f"{name} takes {', '.join(names) or 'no argument'}: {len(given)} given")
        fields |= dict(zip(names, given, strict=False))
        ids = [fields.pop(part) for part in endpoint.ids]
        body = _body(endpoint, fields)
        if endpoint.query is None and fields:
            raise TypeError(f"{name} has no argument {next(iter(fields))!r}")
        query = () if endpoint.query is None else query_of(endpoint.query, **fields)
        return call_of(endpoint, ids=ids, query=query, body=body)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = endpoint.summary
    return make


def _body_names(endpoint: Endpoint) -> tuple[str, ...]:
    if endpoint.whole_body or endpoint.body is None:
        return ("body",) * endpoint.whole_body
    return tuple(endpoint.body.model_fields)


def _body(endpoint: Endpoint, fields: dict[str, Any]) -> bytes | None:
    """Return the body, and take what it is made of out of the fields."""
    own = {name: fields.pop(name) for name in _body_names(endpoint) if name in fields}
    if endpoint.whole_body and not own:
        raise TypeError("The body is missing")
    if endpoint.body is None or (endpoint.bodiless and not any(own.values())):
        return None
    return written(own["body"]) if endpoint.whole_body else body_of(endpoint.body, **own)
