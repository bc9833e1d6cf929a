# SPDX-License-Identifier: Apache-2.0
"""How an operator's command reaches the database (contract, "Organizations"): exactly one process
writes the file, so a command opens it only when it is free, and else asks the running server over a
local socket beside the file, which only the file's owner can open.
"""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

import aiohttp
from aiohttp import web

from hwci.server.clock import Clock, system_clock
from hwci.server.errors import (
    HwciServerError,
    ListenError,
    NotFoundError,
    OperatorUnreachableError,
    RefusedError,
    StorageError,
    StorageLockedError,
)
from hwci.server.http.body import parse, read_bytes, require_json
from hwci.server.http.protocol import SpecRunner
from hwci.server.http.responses import answer, error_answer, stamp_response
from hwci.server.security.passwords import Passwords
from hwci.server.services.operator import (
    COMMANDS,
    Command,
    CommandResult,
    Operator,
    SetCiMetrics,
)
from hwci.server.storage.location import MEMORY, Location
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage
from hwci.wire import limits
from hwci.wire.errors import ErrorBody

_PATIENCE = aiohttp.ClientTimeout(total=30)


def open_database(location: Location) -> Storage:
    """Open a database, and make its folder when it is not there. Raises `StorageError`."""
    if location.file is not None:
        try:
            location.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as fault:
            raise StorageError(
                f"Cannot make the folder of {location.shown}: {fault.strerror}; name another file"
            ) from fault
    return open_storage(location.written)


@asynccontextmanager
async def operator_site(path: Path, storage: Storage, clock: Clock) -> AsyncIterator[None]:
    """Take operators' commands at a socket while the block runs. The database's lock must be held.

    So a socket that is there already belongs to nobody any more.
    """
    listener = _bind(path)
    runner = SpecRunner(_operator_app(storage, clock))
    try:
        await runner.setup()
        await web.SockSite(runner, listener).start()
        yield
    finally:
        await runner.cleanup()
        _unbind(listener, path)


def _bind(path: Path) -> socket.socket:
    """Bind a socket that its owner alone can open, from its first moment on.

    Who holds the database's lock may replace a socket that a crash left behind.
    """
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    try:
        if path.is_socket():
            path.unlink()
        listener.bind(os.fspath(path))
    except OSError as fault:
        listener.close()
        raise ListenError(
            f"Cannot make the operator socket {path}: {fault.strerror}; "
            "check that its folder is writable"
        ) from fault
    finally:
        os.umask(mask)
    return listener


def _unbind(listener: socket.socket, path: Path) -> None:
    listener.close()
    path.unlink(missing_ok=True)


def _operator_app(storage: Storage, clock: Clock) -> web.Application:
    passwords = Passwords()
    operator = Operator(storage, clock, passwords)

    async def take(request: web.Request) -> web.StreamResponse:
        try:
            return answer(await operator.carry_out(await _read_command(request)), HTTPStatus.OK)
        except HwciServerError as error:
            return error_answer(error)

    async def close(_: web.Application) -> None:
        await asyncio.to_thread(passwords.close)

    app = web.Application()
    app.router.add_post("/{command}", take)
    app.on_response_prepare.append(stamp_response)
    app.on_cleanup.append(close)
    return app


async def _read_command(request: web.Request) -> Command:
    for model in COMMANDS:
        if model.command == request.match_info["command"]:
            require_json(request, gzip=False)
            data = await read_bytes(request, limits.BODY_BYTES)
            return await parse(data, model, limits.BODY_BYTES, compressed=False)
    raise NotFoundError("The server does not know this command; it is of another version")


def operate(database: str, command: Command) -> CommandResult:
    """Carry a command out, here when the database is free, else by the server that has it.

    Raises:
        RefusedError: the command does not fit what is there.
        StorageError: the database cannot be used.
        OperatorUnreachableError: a process holds the database and takes no commands.
    """
    location = Location(database)
    if database == MEMORY:
        raise StorageError(f"{MEMORY} is inside the process that uses it; name a database file")
    if location.file is not None and isinstance(command, SetCiMetrics):
        _require_made(location.file)
    return asyncio.run(_operate(location, command))


def _require_made(file: Path) -> None:
    """A mistyped name must not make a database."""
    if not file.exists():
        raise StorageError(f"There is no database {file}; name the one that the server uses")


async def _operate(location: Location, command: Command) -> CommandResult:
    try:
        storage = open_database(location)
    except StorageLockedError:
        assert location.file is not None
        assert location.socket is not None
        return await _ask_server(location.file, location.socket, command)
    passwords = Passwords()
    try:
        return await Operator(storage, system_clock, passwords).carry_out(command)
    finally:
        await asyncio.to_thread(passwords.close)
        await storage.close()


async def _ask_server(database: Path, path: Path, command: Command) -> CommandResult:
    _require_owner(path, database)
    try:
        async with (
            aiohttp.ClientSession(
                connector=aiohttp.UnixConnector(os.fspath(path)), timeout=_PATIENCE
            ) as session,
            session.post(
                f"http://hwci/{command.command}",
                data=command.model_dump_json(by_alias=True).encode(),
                headers={"Content-Type": "application/json"},
            ) as response,
        ):
            status, data = response.status, await response.read()
    except (aiohttp.ClientError, OSError) as fault:
        raise _unreachable(database, path) from fault
    if status != HTTPStatus.OK:
        raise RefusedError(ErrorBody.model_validate_json(data).message)
    return CommandResult.model_validate_json(data)


def _require_owner(path: Path, database: Path) -> None:
    """Tell a password to nobody but who owns the database: the temp folder is everybody's."""
    try:
        found = path.lstat()
        owners = {os.geteuid(), database.stat().st_uid}
    except OSError as fault:
        raise _unreachable(database, path) from fault
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid not in owners:
        raise _unreachable(database, path)


def _unreachable(database: Path, path: Path) -> OperatorUnreachableError:
    return OperatorUnreachableError(
        f"{database} is in use by a process that takes no commands at {path}; "
        "stop that process and try again"
    )
