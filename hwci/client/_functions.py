# SPDX-License-Identifier: Apache-2.0
"""A function that makes the calls of an endpoint: how its arguments become path, query and body."""

import re
from collections.abc import Callable
from typing import Any

from hwci.client._call import Call, body_of, call_of, no_argument, query_of, written
from hwci.wire.endpoint import Endpoint


def function_of(endpoint: Endpoint, name: str, hidden: int = 0) -> Callable[..., Call[Any]]:
    """Return the function that makes calls of an endpoint. `name`: what it is called in errors;
    `hidden`: so many of its arguments are given by a client.
    """
    names = (*endpoint.ids, *_body_names(endpoint))
    query = () if endpoint.query is None else endpoint.query.model_fields
    known = [*_body_names(endpoint), *query]
    shown = ", ".join(map(_snake, names[hidden:])) or "no argument"

    def make(*arguments: Any, **fields: Any) -> Call[Any]:
        if not len(endpoint.ids) <= len(arguments) <= len(names):
            raise TypeError(f"{name} takes {shown}: {len(arguments) - hidden} given")
        by_place = dict(zip(names, arguments, strict=False))
        if twice := by_place.keys() & fields:
            raise TypeError(f"{name} got {min(twice)} twice")
        fields |= by_place
        ids = [fields.pop(part) for part in endpoint.ids]
        if unknown := fields.keys() - known:
            raise TypeError(no_argument(min(unknown), known))
        body = _body(endpoint, fields)
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
    if endpoint.whole_body and not isinstance(own.get("body"), endpoint.body or ()):
        model = "" if endpoint.body is None else endpoint.body.__name__
        raise TypeError(f"The body should be a {model}")
    if endpoint.body is None or (endpoint.bodiless and not any(own.values())):
        return None
    return written(own["body"]) if endpoint.whole_body else body_of(endpoint.body, **own)


def _snake(name: str) -> str:
    return re.sub("([A-Z])", lambda letter: f"_{letter[1].lower()}", name)
