# SPDX-License-Identifier: Apache-2.0
"""The local socket, beside the database, where a running server takes operators' commands
(contract, "Organizations"); `operating.py` sends them.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

from aiohttp import web

from hwci.server.app.operator_socket import listen
from hwci.server.clock import Clock
from hwci.server.errors import FixableError, HwciServerError, NotFoundError
from hwci.server.http import refusals
from hwci.server.http.bodies.body import read_body, require_json
from hwci.server.http.bodies.buffers import LargeBodies
from hwci.server.http.bodies.reading import read_model
from hwci.server.http.connections.runner import SpecRunner
from hwci.server.http.responses import error_answer, json_answer, stamp_response
from hwci.server.security.passwords import Passwords
from hwci.server.services.operator.commands import (
    COMMANDS,
    Check,
    Command,
    CommandResult,
    FindUser,
    KeepSent,
    ListOrganizations,
    ListUsage,
    VerifyAudit,
)
from hwci.server.services.operator.operator import Operator, Secret
from hwci.server.settings import Settings
from hwci.server.storage.ports import Storage
from hwci.wire import limits
from hwci.wire.errors import ErrorBody

LOG = logging.getLogger("hwci.server")

SENT_BYTES = 2 * limits.RUN_REPORT_BYTES
"""The largest body of an import: the largest report, with its names written out."""
_READ_ONLY = (Check, FindUser, ListOrganizations, ListUsage, VerifyAudit)


@asynccontextmanager
async def operator_site(
    path: Path, storage: Storage, clock: Clock, secret: Secret, settings: Settings
) -> AsyncIterator[None]:
    """Take operators' commands at a socket while the block runs, and log those that change
    something. The caller holds the database's lock.

    Raises `ListenError`.
    """
    listener = listen(path)
    passwords = Passwords()
    runner = SpecRunner(_operator_app(Operator(storage, clock, passwords, secret, settings)))
    try:
        await runner.setup()
        await web.SockSite(runner, listener).start()
        yield
    finally:
        await runner.cleanup()
        await asyncio.to_thread(passwords.close)
        _unbind(listener, path)


def _unbind(listener: socket.socket, path: Path) -> None:
    listener.close()
    path.unlink(missing_ok=True)


def _operator_app(operator: Operator) -> web.Application:
    running: set[asyncio.Task[CommandResult]] = set()

    async def take(request: web.Request) -> web.StreamResponse:
        try:
            command = await _read_command(request)
            task = asyncio.ensure_future(operator.carry_out(command))
            running.add(task)
            task.add_done_callback(running.discard)
            result = await task
            if not isinstance(command, _READ_ONLY):
                LOG.warning("the operator's command was carried out: %r", command)
            return json_answer(result.model_dump_json(by_alias=True).encode(), HTTPStatus.OK)
        except HwciServerError as error:
            return _refusal(error)

    async def stop(_: web.Application) -> None:
        """Cancel commands: a server that stops does not wait for a copy of a large database."""
        for task in running:
            task.cancel()

    app = web.Application()
    app.router.add_post("/{command}", take)
    app.on_response_prepare.append(stamp_response)
    app.on_shutdown.append(stop)
    return app


def _refusal(error: HwciServerError) -> web.StreamResponse:
    """Return the answer to an error. An operator may see what is wrong with the database or key."""
    if isinstance(error, FixableError):
        status = refusals.status_of(error)
        body = ErrorBody(status_code=status, error=refusals.phrase(status), message=str(error))
        return json_answer(body.model_dump_json().encode(), status)
    return error_answer(error)


async def _read_command(request: web.Request) -> Command:
    for model in COMMANDS:
        if model.command == request.match_info["command"]:
            require_json(request, gzip=False)
            buffer = LargeBodies().buffer()
            most = SENT_BYTES if model is KeepSent else limits.BODY_BYTES
            await read_body(request, most, buffer)
            return read_model(b"".join(buffer.pieces), model)
    raise NotFoundError("The server runs another version of hwci, which does not have this command")
