# SPDX-License-Identifier: Apache-2.0
"""The one place that names a database driver: from a location to a `Storage`."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from hwci.server.errors import StorageError, pip_install
from hwci.server.storage.location import ADDRESS_FORM, MEMORY, PARAMETERS, POSTGRESQL, Location
from hwci.server.storage.ports import Storage
from hwci.server.storage.records import Checked
from hwci.server.storage.sql import whole
from hwci.server.storage.sql.whole import Side, Tell
from hwci.server.storage.sqlite.checking import check, check_copy, damage_of_sent
from hwci.server.storage.sqlite.condition import note_damage
from hwci.server.storage.sqlite.connections import driver_doubt, known_version, steps_after
from hwci.server.storage.sqlite.copying import put_back
from hwci.server.storage.sqlite.locking import database_lock, refuse_second_names
from hwci.server.storage.sqlite.store import SqliteStorage, TemporaryStorage
from hwci.server.storage.sqlite.whole import source_in, tables_in_order, target_in

__all__ = [
    "check_storage",
    "copy_storage",
    "driver_doubt",
    "missing_steps",
    "open_storage",
    "restore_storage",
]


def open_storage(where: Location | str | Path, *, hears: bool = True) -> Storage:
    """Open a database: a file, made when it is not there, one of a PostgreSQL server, or `memory:`
    for one that is not kept. `hears`: of the events of other servers of a PostgreSQL server.

    Raises:
        StorageLockedError: another process, usually a running server, holds the file.
        StorageError: it cannot be used, with the reason in one line; the database is untouched.
        SettingsError: a database of a server, without a file of the secret key.
    """
    location = where if isinstance(where, Location) else Location(str(where))
    if location.written == MEMORY:
        return TemporaryStorage()
    if location.kind in POSTGRESQL:
        storage: Storage = _postgresql().PostgresqlStorage(location, hears=hears)
        return storage
    return SqliteStorage(_file(location))


def missing_steps(where: str | Path) -> Sequence[str]:
    """Return the steps of the schema that a database lacks. It changes nothing.

    Raises:
        StorageError: the database is not ours, or newer, or cannot be reached.
    """
    location = Location(str(where))
    if location.kind in POSTGRESQL:
        steps: Sequence[str] = _postgresql().steps_after(location)
        return steps
    return steps_after(_file(location))


def check_storage(where: str | Path, tell: Tell = lambda *_: None) -> Checked:
    """Look for damage in a database. A file is one that no process has open, and the next one finds
    a note about it; of another kind a copy in a temporary file is checked, as of one moment.

    Raises:
        StorageLockedError: another process, usually a running server, holds the file.
        StorageError: it is not a database of hwci, or cannot be copied.
    """
    location = Location(str(where))
    if location.kind in POSTGRESQL:
        return _check_copy(location, tell)
    path = _file(location)
    refuse_second_names(path)
    with database_lock(path) as note:
        found = check(path, lambda: False)
        note_damage(note, found.damage)
        return found


def _check_copy(location: Location, tell: Tell) -> Checked:
    with TemporaryDirectory(prefix="hwci-check-") as folder:
        file, of = Path(folder) / "copy.db", location.shown
        with _postgresql("whole").moment_of(location) as source, target_in(file, of) as copy:
            whole.copy_tables(source, copy, tables_in_order(), of, tell)
            whole.finish(copy)
        return check_copy(file)


def restore_storage(where: str | Path, copy: Path) -> Path | None:
    """Put a backup in the place of a database; return the new name of the former file.

    Raises:
        StorageLockedError: another process, usually a running server, holds the file.
        StorageError: the backup cannot take its place; everything is left as it was.
    """
    path = _file(Location(str(where)))
    with database_lock(path) as note:
        kept = put_back(path, copy, damage_of_sent)
        note_damage(note, ())
        return kept


def copy_storage(source: Location, target: Location, tell: Tell) -> int:
    """Copy a database into an empty one, or go on with that; return how many rows it has. No other
    process has one of them open meanwhile.

    Raises:
        StorageLockedError: another process, usually a running server, does.
        StorageError: one cannot be used, or the target is not empty.
    """
    of = f"{source.file or source.shown} (schema {known_version()})"
    if (target.file or target.written) == (source.file or source.written):
        raise StorageError(f"{source.shown} is the source itself", "name another database")
    with _source(source) as copied, _target(target, of) as copy:
        return whole.copy(copied, copy, tables_in_order(), of, tell)


def _source(location: Location) -> AbstractContextManager[Side]:
    if location.kind in POSTGRESQL:
        side: AbstractContextManager[Side] = _postgresql("whole").source_in(location)
        return side
    return source_in(_file(location))


def _target(location: Location, of: str) -> AbstractContextManager[Side]:
    if location.kind in POSTGRESQL:
        side: AbstractContextManager[Side] = _postgresql("whole").target_in(location, of)
        return side
    return target_in(_file(location), of)


def _file(location: Location) -> Path:
    if location.file is not None:
        return location.file
    if location.kind in POSTGRESQL:
        raise StorageError(
            f"This command works on a database file only, not on {location.shown}",
            "use the tools of PostgreSQL, such as `pg_dump` and `pg_amcheck`",
        )
    if location.kind == PARAMETERS:
        raise StorageError(
            "A database is not named by parameters such as host= and password=",
            f"write an address: {ADDRESS_FORM}",
        )
    raise StorageError(
        f"This hwci cannot open a database of kind {location.kind}",
        f"name a file, or an address of PostgreSQL: {ADDRESS_FORM}",
    )


def _postgresql(module: str = "store") -> ModuleType:
    """Return a module of the driver. Raises `StorageError`: what it needs is not installed."""
    try:
        return import_module(f"hwci.server.storage.postgresql.{module}")
    except ModuleNotFoundError as fault:
        raise StorageError(
            f"{fault.name} is missing: this hwci was installed without what PostgreSQL needs",
            f"run: {pip_install('postgres')}",
        ) from fault
