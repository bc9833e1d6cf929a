# SPDX-License-Identifier: Apache-2.0
"""The key of the box that this machine is, in a file of its own (contract, "Command line"). A lost
key cannot be recovered, so a place for it is made before there is one.
"""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from hwci.cli.session.settings import SECRET_BYTES_MAX, Flags, resolve, secret
from hwci.client.explained import ErrorMessage, ExitCode, ExplainedError, wrong_usage

_ROOM = 4096


@dataclass(frozen=True)
class BoxKey:
    """What an install told: which box this is, in which organization, where, and its key."""

    url: str
    box_id: str
    name: str
    org_id: str
    key: str = field(repr=False)


_FIELDS = {one.name for one in fields(BoxKey)}


class NotInstalledError(ExplainedError):
    """This machine is no box: there is no file of a key."""


def installed_as(environ: Mapping[str, str]) -> str | None:
    """Give the name of the box that this machine was installed as; None: of none, or its file
    cannot be read.
    """
    named = environ.get("HWCI_BOX_FILE")
    try:
        return read_key(box_file(Path(named) if named else None, environ)).name
    except ExplainedError:
        return None


def box_file(given: Path | None, environ: Mapping[str, str]) -> Path:
    """Find the file: flag, else `$XDG_CONFIG_HOME/hwci/box.json`.

    Raises:
        ExplainedError: no flag, and the user has no home.
    """
    from hwci.client.files import own_folder

    try:
        return given or own_folder(environ) / "box.json"
    except RuntimeError as fault:
        raise wrong_usage(
            "There is no place for the box's key",
            "HOME is not set, and this user has no home folder",
            "Name a file: --key-file FILE (or HWCI_BOX_FILE)",
        ) from fault


@contextmanager
def place_for_key(path: Path) -> Iterator[Callable[[BoxKey], None]]:
    """Give what keeps a key in place of an earlier one, once it is sure that it can be kept.

    Raises:
        ExplainedError: the file cannot be written.
    """
    from hwci.client.files import replacing

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with replacing(path) as file:
            file.write(b" " * _ROOM)
            file.flush()
            os.fsync(file.fileno())  # a full disk says so now
            file.seek(0)

            def keep(key: BoxKey) -> None:
                file.write(json.dumps(asdict(key), indent=2).encode())
                file.truncate()

            yield keep
    except OSError as fault:
        raise ExplainedError(
            ErrorMessage(
                f"The box's key cannot be kept in {path}",
                fault.strerror or str(fault),
                "Make the folder yours to write, or choose another file: --key-file FILE",
            )
        ) from fault


def read_key(path: Path) -> BoxKey:
    """Read the key.

    Raises:
        NotInstalledError: there is none.
        ExplainedError: it is not secret, or the file cannot be read.
    """
    from hwci.ci.bounded import read_at_most, refuse_pipe
    from hwci.client.files import OF_OTHERS

    try:
        refuse_pipe(path)
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = read_at_most(file, SECRET_BYTES_MAX).decode()
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
            f"The box's key in {path} is no secret",
            f"others can reach the file: its mode is {mode:04o}",
            f"Take that away (chmod 600 {path}); if strangers use this machine, install anew",
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


class Held(NamedTuple):
    """A box key, the server that gave it, and the box that it is of; None: nobody says it here."""

    url: str
    key: str
    name: str | None = None


def held_key(url: str | None, key_file: Path | None) -> Held:
    """Find the key: of the environment, else of the file. A key is shown to its server alone."""
    key = secret("HWCI_BOX_KEY", os.environ)
    if key is not None:
        return Held(resolve(Flags(url)).url_for_key("The box's key is not used"), key)
    path = box_file(key_file, os.environ)
    kept = read_key(path)
    wanted = (url or os.environ.get("HWCI_URL") or kept.url).rstrip("/")
    if wanted != kept.url:
        raise wrong_usage(
            f"The box's key in {path} is not shown to {wanted}",
            f"it is of {kept.url}",
            "Leave --url and HWCI_URL out, or install the box there: hwci box install --url URL",
        )
    return Held(kept.url, kept.key, kept.name)
