# SPDX-License-Identifier: Apache-2.0
"""From a query string to values. Each parameter may be given once."""

from typing import TypeVar
from urllib.parse import unquote, unquote_to_bytes

from aiohttp import web
from pydantic import ValidationError

from hwci.server.http.refusals import InvalidRequestError
from hwci.wire import limits
from hwci.wire.errors import Issue, issues_of
from hwci.wire.queries import Query

Model = TypeVar("Model", bound=Query)


def parse_query(request: web.Request, model: type[Model]) -> Model:
    """Read a query string. Raises `InvalidRequestError` with paths such as `["query", "limit"]`."""
    _require_utf8(request.rel_url.raw_query_string)
    known = {field.alias or name for name, field in model.model_fields.items()}
    repeated = [name for name in known if len(request.query.getall(name, [])) > 1]
    if repeated:
        issues = [Issue(path=["query", name], message="Should be given once") for name in repeated]
        raise InvalidRequestError(issues[: limits.ISSUES_MAX])
    try:
        return model.model_validate(
            {name: request.query.get(name) for name in known & set(request.query)}
        )
    except ValidationError as fault:
        raise InvalidRequestError(issues_of(fault, "query")) from fault


def _require_utf8(text: str) -> None:
    """Refuse what is not UTF-8, which the framework would replace."""
    issues = []
    for part in text.encode().split(b"&"):
        try:
            unquote_to_bytes(part).decode()
        except UnicodeDecodeError:
            name = unquote(part.partition(b"=")[0])
            issues.append(Issue(path=["query", name], message="Should be UTF-8, percent-encoded"))
    if issues:
        raise InvalidRequestError(issues[: limits.ISSUES_MAX])
