# SPDX-License-Identifier: Apache-2.0
"""Where a database is: the operator's text as a location, and the files beside it.

This module decides which file is meant, through any links, where its key and its operator socket
are, and how a location is shown. It opens nothing.
"""

import hashlib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from hwci.server.errors import SettingsError

MEMORY = "memory:"
POSTGRESQL = frozenset({"postgresql", "postgres"})
"""What the address of a PostgreSQL database begins with."""
PARAMETERS = "parameters"
ADDRESS_FORM = "postgresql://USER:PASSWORD@HOST/DATABASE"

_SOCKET_NAME_BYTES = 80
"""Of the 103 that a socket's path may have; the rest is for its folder (`operator_socket.py`)."""
_PARAMETER = re.compile(r"(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=")
"""One of libpq's own parameters, as in `host=db.example password=…`."""
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(:\d*)?")
"""A host, and perhaps its port."""


@dataclass(frozen=True, slots=True)
class Location:
    """A file, `memory:`, or the address of a database server."""

    written: str
    secret_key_file: Path | None = None
    """Where the operator keeps the key that signs access tokens, if it was named."""
    session_address: str | None = None
    """The address of the same database with a session for each connection, if it was named."""

    def __post_init__(self) -> None:
        """Raise `SettingsError` if there is an address of a session of what has none."""
        if self.session_address is not None and not self._address:
            raise SettingsError(
                f"HWCI_DATABASE_SESSION is set beside the database {self.written}, which is not one"
                " of PostgreSQL",
                "unset it, or name the database by its address",
            )

    @property
    def file(self) -> Path | None:
        """The file itself, every link on the way followed; None if it is not a file."""
        if self.written == MEMORY or self._address:
            return None
        return Path(os.path.realpath(self.written))

    @property
    def kind(self) -> str:
        """What an address begins with, such as `postgresql`; or `PARAMETERS`."""
        kind = re.split(":|//", self.written, maxsplit=1)[0]  # a forgotten colon hides no password
        if kind not in POSTGRESQL and _PARAMETER.search(self.written):
            return PARAMETERS
        return kind

    @property
    def _address(self) -> bool:
        return "://" in self.written or self.kind in {*POSTGRESQL, PARAMETERS}

    @property
    def key_file(self) -> Path | None:
        """Where the key that signs access tokens is made by default."""
        return None if self.file is None else Path(f"{self.file}.key")

    def require_place_of_key(self) -> None:
        """Raise `SettingsError` where the key that signs has no place."""
        if (self.file or self.secret_key_file) is None:
            raise SettingsError(
                "HWCI_SECRET_KEY_FILE is not set: a database server has no folder for the key",
                "name a file that all servers of this database have",
            )

    @property
    def session(self) -> "Location":
        """The same database, where each connection has a session of its own."""
        return replace(self, written=self.session_address or self.written, session_address=None)

    @property
    def socket(self) -> Path | None:
        """Where operators' commands are taken: beside the file, and nowhere else."""
        if self.file is None:
            return None
        name = f"{self.file.name}.sock"
        if len(os.fsencode(name)) > _SOCKET_NAME_BYTES:
            name = f"{hashlib.sha256(os.fsencode(name)).hexdigest()[:32]}.sock"
        return self.file.with_name(name)

    @property
    def wheels(self) -> Path | None:
        """The folder of the wheels that the server hands out."""
        return None if self.file is None else Path(f"{self.file}.wheels")

    @property
    def shown(self) -> str:
        """The location for people and logs: an address without what may be secret."""
        if not self._address:
            return self.written
        if self.kind == PARAMETERS:
            return PARAMETERS
        rest = self.written.removeprefix(self.kind).removeprefix(":")
        bare = rest.lstrip("/")
        user, at, host = bare.rpartition("@")
        # Behind a "?", an "@" may belong to a password, and the host to a parameter.
        host = "…" if "?" in user else host.partition("?")[0]
        hosts = (_HOST.fullmatch(one) for one in host.partition("/")[0].split(","))
        if not all(one and (at or not one[2]) for one in hosts):
            host = "…"  # without its "@", what looks like a port may be a password
        return f"{self.kind}:{rest[: len(rest) - len(bare)]}{host}"

    @property
    def repeated(self) -> str:
        """The location in a command that a message names: an address may hold a password."""
        return "ADDRESS" if self._address else self.written


def part_of(file: Path) -> Path:
    """Return the file that a copy is written to before it is renamed to this one."""
    return file.with_name(f"{file.name}.hwci-part")
