# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI 3.1 document, made from the route table and the wire's models: so it always matches
the server.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from hwci.server.http.refusals import phrase
from hwci.server.http.responses import ID_PATTERN
from hwci.server.http.route import Route, Who
from hwci.server.http.streams import EVENT_ID, LAST_EVENT_ID, server_sent_events, web_socket
from hwci.version import build_version
from hwci.wire.errors import ErrorBody

PATH = "/api/openapi.json"
_REF = "#/components/schemas/{model}"
_ALWAYS = (500, 503)
_STREAMS = (server_sent_events, web_socket)

Json = dict[str, Any]
Models = Mapping[tuple[Any, JsonSchemaMode], Json]

_BEARER: list[Json] = [{"accessToken": []}]
_SECURITY: dict[Who, list[Json]] = {
    Who.ANYONE: [],
    Who.READER: [*_BEARER, {"readerKey": []}],
    Who.FOLLOWER: [*_BEARER, {"readerKey": []}, {}],
    Who.READER_KEY: [{"readerKey": []}],
    Who.CI_KEY: [{"ciKey": []}],
    Who.BOX: [{"boxKey": []}],
}


_HEADERS: Json = {
    "x-request-id": {
        "description": "Names this request in the server's log: the caller's own, if well formed",
        "required": True,
        "schema": {"type": "string", "pattern": f"^{ID_PATTERN}$"},
    },
    "WWW-Authenticate": {
        "description": "Which credential is asked for",
        "required": True,
        "schema": {"type": "string", "pattern": "^(Bearer|ApiKey) realm="},
    },
    "Retry-After": {
        "description": "Seconds after which a new request may succeed",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
    "Location": {
        "description": "Where the browser goes on",
        "required": True,
        "schema": {"type": "string", "format": "uri-reference"},
    },
}
_HEADERS_OF = {
    302: ("Location",),
    401: ("WWW-Authenticate",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
"""Beside the one that every answer has."""
_KNOWN: Json = {
    "description": "The caller has this answer: that of an `ETag` in `If-None-Match`",
    "headers": {"x-request-id": {"$ref": "#/components/headers/x-request-id"}},
}


_IF_NONE_MATCH: Json = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The `ETag` of an answer to the same question that the caller has",
    "required": False,
    "schema": {"type": "string"},
}
_RESUME: Json = {
    "name": LAST_EVENT_ID,
    "in": "header",
    "description": "The `id` of the last event that was read: the stream goes on after it",
    "required": False,
    "schema": {"type": "string", "pattern": f"^{EVENT_ID}$"},
}


def with_document(routes: Sequence[Route]) -> tuple[Route, ...]:
    """Add the route that returns the document of all routes, its own included."""

    @cache
    def data() -> bytes:
        return json.dumps(document(table), ensure_ascii=False).encode()

    async def show() -> bytes:
        return data()

    table = (*routes, Route("GET", PATH, Who.ANYONE, show, "This document"))
    return table


def document(routes: Sequence[Route]) -> Json:
    """Make the document."""
    models, definitions = _schemas(routes)
    statuses = {status for route in routes for status in (*route.errors, *_ALWAYS)}
    paths: dict[str, Json] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, models)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hwci",
            "version": build_version(),
            "summary": "Metrics for hardware-in-the-loop CI",
            "description": "Any other method of a path here is answered 405 with `Allow`, any other"
            " path 404; `HEAD` is answered as `GET`, without the body.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "responses": {str(status): _error(status, models) for status in sorted(statuses)},
            "headers": _HEADERS,
            "securitySchemes": {
                "accessToken": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "ciKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "boxKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "readerKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


def _schemas(routes: Iterable[Route]) -> tuple[Models, Json]:
    wanted: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {
        (ErrorBody, "serialization"): None
    }
    for route in routes:
        if route.body is not None:
            wanted[route.body, "validation"] = None
        if route.answer is not None:
            wanted[route.answer, "serialization"] = None
        if route.query is not None:
            wanted[route.query, "validation"] = None
    models, definitions = models_json_schema(list(wanted), ref_template=_REF)
    return models, definitions["$defs"]


def _operation(route: Route, models: Models) -> Json:
    words = re.findall(r"[A-Za-z0-9]+", route.path.removeprefix("/api"))
    operation: Json = {
        "operationId": "_".join([route.method.lower(), *words]),
        "summary": route.summary,
        "security": _SECURITY.get(route.who, _BEARER),
        "parameters": [
            *_path_parameters(route),
            *_query_parameters(route),
            *([_RESUME] if route.handler in _STREAMS else []),
            *([_IF_NONE_MATCH] if route.tagged else []),
        ],
        "responses": {
            str(route.status): _success(route, models),
            **({"304": _KNOWN} if route.tagged else {}),
            **{
                str(status): {"$ref": f"#/components/responses/{status}"}
                for status in (*route.errors, *_ALWAYS)
            },
        },
    }
    if route.who in {Who.MEMBER, Who.READER, Who.ADMIN}:
        operation["description"] = f"For every {route.who.value} of the organization."
    if route.body is not None:
        operation["requestBody"] = {
            "required": not route.bodiless,
            "description": f"At most {route.body_bytes} bytes"
            + (", also after inflation; `Content-Encoding: gzip` is taken" if route.gzip else ""),
            "content": _json(models[route.body, "validation"]),
        }
    return operation


def _path_parameters(route: Route) -> list[Json]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", **({"format": "uuid"} if name.endswith("Id") else {})},
        }
        for name in re.findall(r"{(\w+)}", route.path)
    ]


def _query_parameters(route: Route) -> list[Json]:
    if route.query is None:
        return []
    model = route.query.model_json_schema(ref_template=_REF)
    required = model.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": schema}
        for name, schema in model["properties"].items()
    ]


def _success(route: Route, models: Models) -> Json:
    answer: Json = {"description": phrase(route.status), "headers": _headers(route.status)}
    if route.answer is not None:
        answer["content"] = _json(models[route.answer, "serialization"])
    elif route.media != "application/json":
        answer["content"] = {route.media: {"schema": {"type": "string"}}}
    elif route.path == PATH:
        answer["content"] = _json({"type": "object"})
    return answer


def _error(status: int, models: Models) -> Json:
    return {
        "description": phrase(status),
        "headers": _headers(status),
        "content": _json(models[ErrorBody, "serialization"]),
    }


def _headers(status: int) -> Json:
    names = ("x-request-id", *_HEADERS_OF.get(status, ()))
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
