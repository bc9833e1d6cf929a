# SPDX-License-Identifier: Apache-2.0
"""How an operator's command reaches the database (contract, "Organizations"). Exactly one process
writes the file: a command opens it if it is free, else it asks the running server over a local
socket beside the file, which only the file's owner can open.
"""

import asyncio
import http.client
from collections.abc import Iterable, Sequence
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from uuid import UUID

from hwci.server.app.operator_socket import connect, unreachable
from hwci.server.app.sweeping import KEYS_SECONDS
from hwci.server.clock import system_clock
from hwci.server.errors import (
    OperatorUnreachableError,
    RefusedError,
    StorageError,
    StorageLockedError,
)
from hwci.server.security.passwords import Passwords
from hwci.server.services.ci_metrics.ingest import Ingest, Sent
from hwci.server.services.operator.commands import (
    BackUp,
    Check,
    CheckResult,
    Command,
    CommandResult,
    Export,
    KeepSent,
    Rebuild,
    VerifyAudit,
)
from hwci.server.services.operator.operator import Operator, Secret
from hwci.server.settings import DEFAULTS, Settings
from hwci.server.storage import opening
from hwci.server.storage.location import MEMORY, Location, part_of
from hwci.server.storage.ports import Storage
from hwci.server.storage.sql.whole import Tell
from hwci.wire.errors import ErrorBody

_PATIENCE_SECONDS = 30.0
_LONG = (BackUp, Check, Export, KeepSent, Rebuild, VerifyAudit)


def operate(
    database: str,
    command: Command,
    *,
    may_create: bool = False,
    settings: Settings = DEFAULTS,
) -> CommandResult:
    """Carry out a command: in this process if the database is free, else in the server that holds
    it.

    `may_create`: make the database if it does not exist. `settings`: all but the database; a
    running server uses its own.

    Raises:
        RefusedError: the command does not fit what is there.
        StorageError: the database cannot be used.
        SettingsError: the secret key cannot be used; from a running server it is a RefusedError.
        OperatorUnreachableError: a process holds the database and takes no commands.
    """
    location = _kept(database, settings.secret_key_file)
    if not may_create:
        _require_made(location)
    try:
        return asyncio.run(_operate(location, command, settings))
    except StorageLockedError:
        return _ask_server(location, command)


def fill(database: str, org_id: UUID, bodies: Iterable[Sent]) -> None:
    """Keep what the CI of an organization would have sent, in a database that no server has.

    Raises:
        StorageError: the database cannot be used.
    """

    async def keep() -> None:
        storage = open_database(_kept(database))
        try:
            await Ingest(storage, system_clock).keep_history(org_id, bodies)
        finally:
            await storage.close()

    asyncio.run(keep())


def check(database: str, tell: Tell = lambda *_: None) -> CheckResult:
    """Check a database for damage: in this process if it is free, else in the server that holds it.
    `tell` is called with how much of a PostgreSQL database is copied.

    Raises:
        StorageError: it is not ours, or there is no room for the copy that is checked.
        OperatorUnreachableError: a process holds the database and takes no commands.
    """
    location = _kept(database)
    _require_made(location)
    try:
        return CheckResult.of(opening.check_storage(location.written, tell))
    except StorageLockedError:
        checked = _ask_server(location, Check()).checked
        assert checked is not None
        return checked


def restore(database: str, copy: Path) -> Path | None:
    """Replace a database that no server has by a backup. Return the new name of the former one, if
    there was one. Raises `StorageError`.
    """
    location = _kept(database)
    _make_folder(location)
    return opening.restore_storage(location.written, copy)


def copy(
    source: str, target: str, tell: Tell = lambda *_: None, *, settings: Settings = DEFAULTS
) -> int:
    """Copy a whole database into an empty one that no server has, or go on with that. Return how
    many rows it has. `settings`: where the keys are; what they say of the sessions of their
    database counts for that.

    Raises:
        StorageError: one of them cannot be used, or is in use, or the target is not empty.
    """
    source_path, to = _settled(source, settings), _settled(target, settings)
    _require_made(source_path, flag="--from")
    _make_folder(to)
    return opening.copy_storage(source_path, to, tell)


def migrate(database: str, *, check: bool, secret_key_file: Path | None = None) -> Sequence[str]:
    """Return the missing steps of a schema; take them unless `check`. Raises `StorageError`."""
    location = _kept(database, secret_key_file)
    _require_made(location)
    steps = opening.missing_steps(location.written)
    if steps and not check:
        asyncio.run(opening.open_storage(location, hears=False).close())
    return steps


def missing_steps_of(location: Location) -> Sequence[str]:
    """Return the steps that a schema lacks; none of a file that is to be made, or of memory.
    Raises `StorageError`.
    """
    if location.written == MEMORY or (location.file is not None and not location.file.exists()):
        return ()
    return opening.missing_steps(location.written)


def copy_progress(database: str, to: Path | None = None) -> tuple[int, int]:
    """Return the bytes written of a backup (without `to`: of a check's copy) and the database's."""
    file = Location(database).file
    part = part_of(to) if to else file and part_of(file)
    return _size(part), _size(file)


def _size(file: Path | None) -> int:
    try:
        return 0 if file is None else file.stat().st_size
    except OSError:  # not there yet, or any more
        return 0


def open_database(location: Location, *, hears: bool = True) -> Storage:
    """Open a database, and make its folder if needed. `hears`: of the events of other servers.
    Raises `StorageError`.
    """
    _make_folder(location)
    return opening.open_storage(location, hears=hears)


def _settled(database: str, settings: Settings) -> Location:
    """Return a database with what the settings say of it."""
    location = _kept(database, settings.secret_key_file)
    if database != settings.database:
        return location
    return replace(location, session_address=settings.database_session)


def _kept(database: str, secret_key_file: Path | None = None) -> Location:
    """Return a database that outlives its process."""
    if database == MEMORY:
        raise StorageError(f"{MEMORY} is inside the process that uses it", "name a database file")
    return Location(database, secret_key_file)


def _require_made(location: Location, flag: str = "--database") -> None:
    """A mistyped name must not make a database."""
    if location.file is not None and not location.file.exists():
        raise StorageError(
            f"There is no database {location.file}",
            f"call this in the folder of the server, or name its database: {flag} FILE (`hwci "
            "serve` makes a new one, and so does `hwci admin create-user --create`)",
        )


def _make_folder(location: Location) -> None:
    if location.file is None:
        return
    try:
        location.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise StorageError(
            f"Cannot make the folder of {location.shown}: {fault.strerror}", "name another file"
        ) from fault


async def _operate(location: Location, command: Command, settings: Settings) -> CommandResult:
    storage = open_database(location, hears=False)
    passwords = Passwords()
    secret = Secret(
        settings.secret_key_file or location.key_file,
        servers_read_after=0.0 if location.file else 3 * KEYS_SECONDS,
    )
    try:
        operator = Operator(storage, system_clock, passwords, secret, settings)
        return await operator.carry_out(command)
    finally:
        await asyncio.to_thread(passwords.close)
        await storage.close()


def _ask_server(location: Location, command: Command) -> CommandResult:
    database, path = location.file, location.socket
    assert database is not None
    assert path is not None
    asking = http.client.HTTPConnection("hwci")
    patience = None if isinstance(command, _LONG) else _PATIENCE_SECONDS
    asking.sock = connect(path, database, patience)
    try:
        body = command.model_dump_json(by_alias=True).encode()
        asking.request("POST", f"/{command.command}", body, {"Content-Type": "application/json"})
        response = asking.getresponse()
        return _read_result(response.status, response.read())
    except TimeoutError as fault:
        raise unreachable(database, path) from fault
    except (http.client.HTTPException, OSError) as fault:
        raise OperatorUnreachableError(
            f"The server of {database} stopped before this was done", "start it and try again"
        ) from fault
    finally:
        asking.close()


def _read_result(status: int, data: bytes) -> CommandResult:
    if status == HTTPStatus.OK:
        return CommandResult.model_validate_json(data)
    message = ErrorBody.model_validate_json(data).message
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        raise StorageError.read(message)
    raise RefusedError(message)
