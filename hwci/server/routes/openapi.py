# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI 3.1 document, made from the endpoints and their models: so it always matches the
server.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic.json_schema import JsonSchemaMode

from hwci.server.http.refusals import phrase
from hwci.server.http.responses import ID_PATTERN
from hwci.server.http.streams import EVENT_ID, LAST_EVENT_ID
from hwci.version import build_version
from hwci.wire.codec import schemas
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.endpoints import every
from hwci.wire.endpoints.health import OPENAPI, PROJECT_SCHEMA
from hwci.wire.endpoints.runs import FOLLOW_RUNS, SOCKET_RUNS
from hwci.wire.errors import ErrorBody

_REF = "#/components/schemas/{model}"
_ALWAYS = (500, 503)
_INFLATED = ", also after inflation; `Content-Encoding: gzip` is taken"

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


@cache
def _written() -> bytes:
    return json.dumps(document(every()), ensure_ascii=False).encode()


async def show() -> bytes:
    """Return the document of all endpoints, its own included."""
    return _written()


def document(endpoints: Sequence[Endpoint]) -> Json:
    """Make the document."""
    models, definitions = _schemas(endpoints)
    statuses = {status for endpoint in endpoints for status in (*endpoint.errors, *_ALWAYS)}
    paths: dict[str, Json] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, models)
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


def _schemas(endpoints: Iterable[Endpoint]) -> tuple[Models, Json]:
    wanted: dict[tuple[type[Any], JsonSchemaMode], None] = {(ErrorBody, "serialization"): None}
    for endpoint in endpoints:
        if endpoint.body is not None:
            wanted[endpoint.body, "validation"] = None
        if endpoint.answer is not None:
            wanted[endpoint.answer, "serialization"] = None
        if endpoint.query is not None:
            wanted[endpoint.query, "validation"] = None
    return schemas(wanted, _REF)


def _operation(endpoint: Endpoint, models: Models) -> Json:
    words = re.findall(r"[A-Za-z0-9]+", endpoint.path.removeprefix("/api"))
    operation: Json = {
        "operationId": "_".join([endpoint.method.lower(), *words]),
        "summary": endpoint.summary,
        "security": _SECURITY.get(endpoint.who, _BEARER),
        "parameters": [
            *_path_parameters(endpoint),
            *_query_parameters(endpoint),
            *([_RESUME] if endpoint in {FOLLOW_RUNS, SOCKET_RUNS} else []),
            *([_IF_NONE_MATCH] if endpoint.tagged else []),
        ],
        "responses": {
            str(endpoint.status): _success(endpoint, models),
            **({"304": _KNOWN} if endpoint.tagged else {}),
            **{
                str(status): {"$ref": f"#/components/responses/{status}"}
                for status in (*endpoint.errors, *_ALWAYS)
            },
        },
    }
    if endpoint.who in {Who.MEMBER, Who.READER, Who.ADMIN, Who.OWNER}:
        operation["description"] = f"For every {endpoint.who.value} of the organization."
    if endpoint.body is not None:
        operation["requestBody"] = {
            "required": not endpoint.bodiless,
            "description": f"At most {endpoint.body_bytes} bytes"
            + (_INFLATED if endpoint.gzip else ""),
            "content": _json(models[endpoint.body, "validation"]),
        }
    return operation


def _path_parameters(endpoint: Endpoint) -> list[Json]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", **({"format": "uuid"} if name.endswith("Id") else {})},
        }
        for name in endpoint.ids
    ]


def _query_parameters(endpoint: Endpoint) -> list[Json]:
    if endpoint.query is None:
        return []
    model = endpoint.query.model_json_schema(ref_template=_REF)
    required = model.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": schema}
        for name, schema in model["properties"].items()
    ]


def _success(endpoint: Endpoint, models: Models) -> Json:
    answer: Json = {"description": phrase(endpoint.status), "headers": _headers(endpoint.status)}
    if endpoint.answer is not None:
        answer["content"] = _json(models[endpoint.answer, "serialization"])
    elif endpoint.media != "application/json":
        answer["content"] = {endpoint.media: {"schema": {"type": "string"}}}
    elif endpoint in {OPENAPI, PROJECT_SCHEMA}:
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
