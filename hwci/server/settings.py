# SPDX-License-Identifier: Apache-2.0
"""What an operator can set, and how `HWCI_*` variables are read (contract, "Command line").

This module decides names, defaults and the grammar of values. It opens nothing but the files that a
`…_FILE` variable names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hwci.server.errors import SettingsError


class Registration(StrEnum):
    """Who may register (contract, "Auth"): the operator's policy."""

    OPEN = "open"
    INVITE = "invite"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one server. `port` 0: any free one; no `secret_key_file`: beside the database."""

    database: str = "hwci-data/hwci.db"
    host: str = "127.0.0.1"
    port: int = 8080
    registration: Registration = Registration.INVITE
    secret_key_file: Path | None = None


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read `HWCI_*`; what is not set, or empty, has its default.

    Raises:
        SettingsError: a value cannot be used.
    """
    default = Settings()
    key_file = environ.get("HWCI_SECRET_KEY_FILE")
    return Settings(
        database=_value(environ, "HWCI_DATABASE") or default.database,
        registration=_registration(environ.get("HWCI_REGISTRATION") or default.registration),
        secret_key_file=Path(key_file) if key_file else None,
    )


def _value(environ: Mapping[str, str], name: str) -> str | None:
    """Give a value that may be a secret: itself, or the file that `name`_FILE names."""
    path = environ.get(f"{name}_FILE")
    if not path:
        return environ.get(name)
    if environ.get(name):
        raise SettingsError(f"{name} and {name}_FILE are both set; keep one of them")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise SettingsError(f"{name}_FILE names {path}, which cannot be read: {fault}") from fault


def _registration(value: str) -> Registration:
    try:
        return Registration(value)
    except ValueError as fault:
        choices = ", ".join(Registration)
        raise SettingsError(f"HWCI_REGISTRATION is {value!r}; it may be {choices}") from fault
