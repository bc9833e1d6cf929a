# SPDX-License-Identifier: Apache-2.0
"""The order of checks, once, for every endpoint (contract, "Everywhere").

Request id → global rate limit (429) → route (404, 405) come before this module, in `rate_limits.py`
and the router; existence (404) and state (409) after it, in the services. Between them: `CHECKS`.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import unquote, unquote_to_bytes

from aiohttp import hdrs, web
from pydantic import ValidationError

from hwci.server.errors import HwciServerError, LimiterError, StorageError
from hwci.server.http.answering import answered
from hwci.server.http.bodies.body import (
    THREAD_BYTES,
    parse,
    plain_size,
    read_body,
    require_json,
)
from hwci.server.http.bodies.buffers import LargeBodies
from hwci.server.http.call import Call, Handler, parameters_of
from hwci.server.http.connections.connection import SpecProtocol, unread_by
from hwci.server.http.headers import (
    api_key,
    bearer_token,
    reader_key,
    require_own_origin,
)
from hwci.server.http.rate_limits import log_uncounted, take_own_limit
from hwci.server.http.refusals import InvalidRequestError
from hwci.server.http.responses import (
    answer,
    error_answer,
    request_id,
)
from hwci.server.services.access import ADMINS, MEMBERS, OWNERS
from hwci.server.services.registry import Services
from hwci.server.storage.records import Box, CiKey, ReaderKey
from hwci.wire import limits
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.errors import NO_SUCH_PARAMETER, Issue, issues_of, shown
from hwci.wire.nearest import hint
from hwci.wire.queries import Query

LOG = logging.getLogger("hwci.server")

Model = TypeVar("Model", bound=Query)

_ROLES = {Who.ADMIN: ADMINS, Who.OWNER: OWNERS}
_MACHINES = {Who.CI_KEY, Who.BOX, Who.READER_KEY}


async def admit(call: Call) -> None:
    """Authentication (401, body unread) → membership (404) → role or feature (403) → what waits
    for them to read (503).
    """
    access, endpoint = call.services.access, call.endpoint
    if endpoint.who in _MACHINES:
        call.caller = await _machine(call, api_key(call.request))
    elif endpoint.who is Who.USER:
        call.caller = await access.person(bearer_token(call.request))
    elif (
        endpoint.who in {Who.READER, Who.FOLLOWER} and (key := reader_key(call.request)) is not None
    ):
        org_id, metrics = call.path_id("orgId"), endpoint.metrics
        call.caller = await access.reader_key(key, org_id, metrics=metrics)
        call.services.keys.note_use(call.caller)
    elif endpoint.who is Who.FOLLOWER and hdrs.AUTHORIZATION not in call.request.headers:
        pass  # the first frame has the credentials
    elif endpoint.who is not Who.ANYONE:
        call.caller = await access.member(
            bearer_token(call.request),
            call.path_id("orgId"),
            _ROLES.get(endpoint.who, MEMBERS),
            metrics=endpoint.metrics,
            deleted=endpoint.deleted,
        )
    if endpoint.who is Who.FOLLOWER:
        require_own_origin(call.request)
    unread_by(call.request).count_for(*call.payer)


async def _machine(call: Call, key: str) -> CiKey | Box | ReaderKey:
    access = call.services.access
    if call.endpoint.who is Who.BOX:
        return await access.box(key)
    of_ci = call.endpoint.who is Who.CI_KEY
    holder = await (access.ci_key(key) if of_ci else access.own_reader_key(key))
    call.services.keys.note_use(holder)
    return holder


async def take_body(call: Call) -> None:
    """Quota (429) → content type and size (415, 413) → body (400)."""
    endpoint, model = call.endpoint, call.endpoint.body
    if model is not None and endpoint.bodiless and not call.request.body_exists:
        call.body = model()
    elif model is not None:
        organization, quota = call.organization, call.services.quota
        if organization is not None:
            quota.require_room(organization)
        compressed, most = require_json(call.request, gzip=endpoint.gzip), endpoint.body_bytes
        call.buffer.charge_to(*call.payer)
        await read_body(call.request, most, call.buffer)
        size = plain_size(call.buffer, compressed=compressed)
        call.body = await parse(call.buffer, model, most, compressed=compressed)
        if organization is not None:
            quota.add(organization, size)


async def take_query(call: Call) -> None:
    """Query (400)."""
    if call.endpoint.query is not None:
        call.query = parse_query(call.request, call.endpoint.query)


def parse_query(request: web.Request, model: type[Model]) -> Model:
    """Read a query string; each parameter may be given once. Raises `InvalidRequestError`."""
    _require_utf8(request.rel_url.raw_query_string)
    known = [field.alias or name for name, field in model.model_fields.items()]
    faults = {name: "Should be given once" for name in known if _times(request, name) > 1}
    if model.model_config["extra"] == "forbid":
        unknown = list(request.query.keys() - known)[: limits.ISSUES_MAX]
        faults |= {name: _unknown(name, known) for name in sorted(unknown)}
    if faults:
        issues = [Issue(path=["query", shown(name)], message=faults[name]) for name in faults]
        raise InvalidRequestError(issues[: limits.ISSUES_MAX])
    try:
        return model.model_validate(
            {name: request.query[name] for name in known if name in request.query}
        )
    except ValidationError as fault:
        raise InvalidRequestError(issues_of(fault, "query")) from fault


def _times(request: web.Request, name: str) -> int:
    return len(request.query.getall(name, []))


def _unknown(name: str, known: Sequence[str]) -> str:
    return "; ".join(filter(None, (NO_SUCH_PARAMETER, hint(name, known))))


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


CHECKS: tuple[Callable[[Call], Awaitable[None]], ...] = (
    take_own_limit,
    admit,
    take_body,
    take_query,
)


def serving(
    endpoint: Endpoint, handler: Handler, services: Services, bodies: LargeBodies
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """Return what the web framework calls for an endpoint: the checks, then its handler."""
    bound, parameters = services.bound(handler), parameters_of(handler)

    async def serve(request: web.Request) -> web.StreamResponse:
        async with bodies.buffer() as buffer:
            call = Call(request, endpoint, bound, parameters, services, buffer)
            try:
                for check in CHECKS:
                    await check(call)
                return answer(endpoint, await answered(call))
            except HwciServerError as error:
                return _refusal(error, call)

    return serve


def _refusal(error: HwciServerError, call: Call) -> web.Response:
    response = error_answer(error)
    if response.status == HTTPStatus.UNAUTHORIZED:
        response.headers[hdrs.WWW_AUTHENTICATE] = call.endpoint.who.challenge
        _leave_unread(call.request, response)
    elif response.status == HTTPStatus.TOO_MANY_REQUESTS:
        _leave_unread(call.request, response)
    if isinstance(error, StorageError):
        LOG.error("request %s: %s", request_id(call.request), error)
        LOG.debug("request %s: traceback", request_id(call.request), exc_info=error)
    elif response.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        LOG.error("request %s: %s", request_id(call.request), error, exc_info=error)
    elif isinstance(error, LimiterError):
        log_uncounted(error, call.request)
    return response


def _leave_unread(request: web.Request, response: web.Response) -> None:
    """Read nothing of a refused long body, which the framework would read for two seconds."""
    short = request.content_length is not None and request.content_length <= THREAD_BYTES
    if not short and not request.content.is_eof():
        response.force_close()
        assert isinstance(request.protocol, SpecProtocol)
        request.protocol.stop_reading()
