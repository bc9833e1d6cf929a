# SPDX-License-Identifier: Apache-2.0
"""The box key of this machine, in a file of its own (contract, "Command line"). A lost key cannot
be recovered, so its file is reserved before it is requested. What cannot be read or
written is an `ExplainedError`.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hwci.client.explained import (
    ErrorMessage,
    ExitCode,
    ExplainedError,
    command_error,
    explain,
    wrong_usage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hwci.wire.boxes import InstalledBox

NEW_TOKEN = "Ask an owner or admin for a new token: hwci boxes install-token BOX"
_ROOM = 4096
_BYTES_MAX = 64 * 1024


@dataclass(frozen=True)
class BoxKey:
    """A box key with its box, organization and server."""

    url: str
    box_id: str
    name: str
    org_id: str
    key: str = field(repr=False)


_FIELDS = {field.name for field in fields(BoxKey)}


class NotInstalledError(ExplainedError):
    """This machine is not a box: it has no key file."""


def installed_as(environ: Mapping[str, str]) -> str | None:
    """Return the name of the box that this machine was installed as; None if there is none, or the
    key file cannot be read.
    """
    named = environ.get("HWCI_BOX_FILE")
    try:
        return read_key(box_file(Path(named) if named else None, environ)).name
    except ExplainedError:
        return None


def box_file(path: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the path of the key file: the given one, else `$XDG_CONFIG_HOME/hwci/box.json`."""
    from hwci.client.files import own_folder

    try:
        return path or own_folder(environ) / "box.json"
    except RuntimeError as fault:
        raise wrong_usage(
            "There is no place for the box's key",
            "HOME is not set, and this user has no home folder",
            "Name a file: --key-file FILE (or HWCI_BOX_FILE)",
        ) from fault


@contextmanager
def place_for_key(path: Path) -> Iterator[Callable[[BoxKey], None]]:
    """Make room for a key, and yield the function that writes it in place of an earlier one."""
    from hwci.client.files import replacing

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with replacing(path) as file:
            file.write(b" " * _ROOM)
            file.flush()
            os.fsync(file.fileno())  # a full disk fails here
            file.seek(0)

            def keep(key: BoxKey) -> None:
                file.write(json.dumps(asdict(key), indent=2).encode())
                file.truncate()

            yield keep
    except OSError as fault:
        raise command_error(
            f"The box's key cannot be kept in {path}",
            fault.strerror or str(fault),
            "Make the folder yours to write, or choose another file: --key-file FILE",
        ) from fault


def read_key(path: Path) -> BoxKey:
    """Read the key file.

    Raises:
        NotInstalledError: it does not exist.
        ExplainedError: others can read it, or it cannot be read.
    """
    from hwci.client.files import OF_OTHERS, read_at_most, refuse_pipe

    try:
        refuse_pipe(path)
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = read_at_most(file, _BYTES_MAX).decode()
    except FileNotFoundError as fault:
        raise _not_installed(path) from fault
    except (OSError, UnicodeDecodeError) as fault:
        raise wrong_usage(
            f"The box's key in {path} cannot be read",
            getattr(fault, "strerror", None) or "the file is not text",
            "Make the file yours to read, or choose another: --key-file FILE",
        ) from fault
    if mode & OF_OTHERS:
        raise wrong_usage(
            f"Others can read the box's key in {path}",
            f"the mode of the file is {mode:04o}",
            f"Run: chmod 600 {path}; if strangers use this machine, install the box again",
        )
    return _parsed(text, path)


def _parsed(text: str, path: Path) -> BoxKey:
    try:
        content: dict[str, Any] = json.loads(text)
        if all(isinstance(content[name], str) for name in _FIELDS):
            return BoxKey(**{name: content[name] for name in _FIELDS})
    except (ValueError, KeyError, TypeError):
        pass
    raise wrong_usage(
        f"The box's key in {path} cannot be read",
        "the file is not one that `hwci box install` wrote",
        "Install the box again: hwci box install --url URL",
    )


def _not_installed(path: Path) -> NotInstalledError:
    return NotInstalledError(
        ErrorMessage(
            "This machine is not installed as a box",
            f"there is no file {path}",
            "Install it: hwci box install --url URL (or set HWCI_URL and HWCI_BOX_KEY)",
            ExitCode.SIGN_IN,
        )
    )


class BoxCredential(NamedTuple):
    """A box key, its server, and the name of its box; None if unknown."""

    url: str
    key: str
    name: str | None = None


def kept_credential(path: Path, wanted_url: str | None) -> BoxCredential:
    """Read the key file. Its key is sent to its own server only."""
    key = read_key(path)
    wanted = (wanted_url or key.url).rstrip("/")
    if wanted != key.url:
        raise wrong_usage(
            f"The box's key in {path} is not sent to {wanted}",
            f"it belongs to {key.url}",
            "Leave --url and HWCI_URL out, or install the box there: hwci box install --url URL",
        )
    return BoxCredential(key.url, key.key, key.name)


def exchange(url: str, token: str, retries: int) -> InstalledBox:
    """Exchange an install token for the key of a box."""
    from hwci.client import Client, calls
    from hwci.client.errors import ConnectionFailedError, HwciError, UnauthorizedError

    try:
        with Client(url, retries=retries) as client:
            return client.send(calls.install_box(token))
    except HwciError as fault:
        message = explain(fault, "The box was not installed")
        if isinstance(fault, UnauthorizedError):
            message = replace(message, fix=NEW_TOKEN)
        elif isinstance(fault, ConnectionFailedError) and fault.sent:
            message = replace(message, fix=f"Try again; a token works once. {NEW_TOKEN}")
        raise ExplainedError(message) from fault
