# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI 3.1 document, made from the route table and the wire's models: it cannot say anything
else than what the server does.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from hwci import __version__
from hwci.server.http.error_map import phrase
from hwci.server.http.route import Call, Route, Who
from hwci.wire.errors import ErrorBody
from hwci.wire.queries import Query

PATH = "/api/openapi.json"
_REF = "#/components/schemas/{model}"
_ALWAYS = (500, 503)

Json = dict[str, Any]
Models = Mapping[tuple[Any, JsonSchemaMode], Json]

_BEARER: list[Json] = [{"accessToken": []}]
_SECURITY: dict[Who, list[Json]] = {
    Who.ANYONE: [],
    Who.CI_KEY: [{"ciKey": []}],
    Who.BOX: [{"boxKey": []}],
}


def with_document(routes: Sequence[Route]) -> tuple[Route, ...]:
    """Add the route that gives the document of all routes, its own included."""

    @cache
    def data() -> bytes:
        return json.dumps(document(table), ensure_ascii=False).encode()

    async def show(call: Call) -> bytes:  # noqa: ARG001 - every handler takes the call
        return data()

    table = (*routes, Route("GET", PATH, Who.ANYONE, show, "This document"))
    return table


def document(routes: Sequence[Route]) -> Json:
    """Make the document."""
    models, definitions = _schemas(routes)
    paths: dict[str, Json] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, models)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hwci",
            "version": __version__,
            "summary": "Metrics for hardware-in-the-loop CI",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "responses": {str(status): _error(status, models) for status in _statuses(routes)},
            "headers": {
                "x-request-id": {
                    "description": "Names this request in the server's log",
                    "schema": {"type": "string"},
                }
            },
            "securitySchemes": {
                "accessToken": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "ciKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "boxKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
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


def _statuses(routes: Iterable[Route]) -> list[int]:
    return sorted({status for route in routes for status in (*route.errors, *_ALWAYS)})


def _operation(route: Route, models: Models) -> Json:
    operation: Json = {
        "operationId": _operation_id(route),
        "summary": route.summary,
        "security": _SECURITY.get(route.who, _BEARER),
        "parameters": [*_path_parameters(route), *_query_parameters(route)],
        "responses": {
            str(route.status): _success(route, models),
            **{
                str(status): {"$ref": f"#/components/responses/{status}"}
                for status in (*route.errors, *_ALWAYS)
            },
        },
    }
    if route.who in {Who.MEMBER, Who.ADMIN}:
        operation["description"] = f"For every {route.who.value} of the organization."
    if route.body is not None:
        operation["requestBody"] = {
            "required": True,
            "description": f"At most {route.body_bytes} bytes"
            + (", also after inflation; `Content-Encoding: gzip` is taken" if route.gzip else ""),
            "content": _json(models[route.body, "validation"]),
        }
    return operation


def _operation_id(route: Route) -> str:
    words = re.findall(r"[A-Za-z0-9]+", route.path.removeprefix("/api"))
    return "_".join([route.method.lower(), *words])


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
    return [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in _properties(route.query).items()
    ]


def _properties(query: type[Query]) -> Json:
    found: Json = query.model_json_schema(ref_template=_REF)["properties"]
    return found


def _success(route: Route, models: Models) -> Json:
    answer: Json = {
        "description": phrase(route.status),
        "headers": {"x-request-id": {"$ref": "#/components/headers/x-request-id"}},
    }
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
        "headers": {"x-request-id": {"$ref": "#/components/headers/x-request-id"}},
        "content": _json(models[ErrorBody, "serialization"]),
    }


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
