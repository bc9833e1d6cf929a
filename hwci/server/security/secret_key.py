# SPDX-License-Identifier: Apache-2.0
"""The file of the keys that sign tokens: who may read it, its first key, how it is replaced, how a
server notices that.

Each line holds a key; the first one signs. Tokens of the others, former keys, are accepted until
the time after the key, or as long as the line exists; tokens of devices, which open nothing, for
their own lifetime after it.
"""

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from hwci.server.errors import ForbiddenError, SettingsError
from hwci.server.private_file import require_private, wait_for_disk, write_private
from hwci.server.security.signing import FormerKey, Signer, SigningKeys
from hwci.wire import limits

KEY_BYTES_MIN = 32
_LINE = re.compile(rf"([!-~]{{{KEY_BYTES_MIN},}})(?: +(\S+))?", re.ASCII)


def signing_keys(path: Path | None) -> SigningKeys:
    """Return the keys; one is made at the first start. `path` None: a key for this process only.
    Raises `SettingsError`: the file cannot be read or written, others may read it, or a line is
    not a key.
    """
    if path is None:
        return SigningKeys(_new_key())
    with _explained():
        return _kept_keys(path) if path.exists() else _first_key(path)


def rotate_keys(
    path: Path, now: datetime, until: datetime | None, key: bytes | None = None
) -> SigningKeys:
    """Put a new key before the others, or one that was announced. The former one is accepted until
    `until`; keys of which no token can work are removed. `until` None: no former key is accepted
    any longer.

    Raises:
        SettingsError: as `signing_keys`.
        ForbiddenError: only the operator may write the file.
    """
    present, former = signing_keys(path)
    held = () if until is None else (FormerKey(present, until), *former)
    keys = tuple(
        earlier
        for earlier in held
        if earlier.good(now, limits.DEVICE_TOKEN_LIFETIME) and earlier.value != key
    )
    return _put(path, SigningKeys(key or _new_key(), keys))


def announce_key(path: Path, until: datetime) -> bytes:
    """Add a new key, whose tokens are accepted until `until` and which does not sign yet. Return
    it. Raises as `rotate_keys`.
    """
    (present, former), key = signing_keys(path), _new_key()
    _put(path, SigningKeys(present, (*former, FormerKey(key, until))))
    return key


class KeyFile:
    """The file of a running server, which another process may replace."""

    def __init__(self, path: Path, signer: Signer) -> None:
        self._path = path
        self._signer = signer
        self._seen: tuple[int, ...] | None = None

    def look(self) -> None:
        """Sign with the keys of the file if it was changed. Raises `SettingsError`, once for a
        change: it cannot be used, and the keys of before stay.
        """
        try:
            status = self._path.stat()
        except OSError:
            return  # it is being replaced, or its disk is away
        seen = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        if seen != self._seen:
            self._seen = seen
            with _explained():
                self._signer.change_keys(_kept_keys(self._path))


def _put(path: Path, keys: SigningKeys) -> SigningKeys:
    try:
        _replace(Path(os.path.realpath(path)), keys)
    except OSError as fault:
        raise ForbiddenError(
            f"The secret key file {path} cannot be written ({fault.strerror}): it is yours to"
            f" change. Put a new key (openssl rand -hex {KEY_BYTES_MIN}) before its first line,"
            " restart the server, and remove the former line after 15 minutes"
        ) from fault
    return keys


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise SettingsError(
            f"The secret key file cannot be used: {fault}",
            "make it one that can be read and written, or name another",
        ) from fault


def _kept_keys(path: Path) -> SigningKeys:
    require_private(path, "secret key")
    text = path.read_bytes().decode("ascii", "replace")
    # An empty file has one line, which is not a key.
    keys = [_read_line(line, path) for line in text.strip().split("\n")]
    return SigningKeys(keys[0].value, tuple(keys[1:]))


def _read_line(line: str, path: Path) -> FormerKey:
    match = _LINE.fullmatch(line.strip())
    try:
        if match is None:
            raise ValueError
        until = None if match[2] is None else datetime.fromisoformat(match[2])
        if until is not None and until.tzinfo is None:
            raise ValueError
    except ValueError:
        raise SettingsError(
            f"A line of {path} is not a secret key: it is shorter than {KEY_BYTES_MIN} bytes, or "
            "not text",
            f"write one with `openssl rand -hex {KEY_BYTES_MIN}`, or remove the file to have "
            "one made",
        ) from None
    return FormerKey(match[1].encode(), until)


def _first_key(path: Path) -> SigningKeys:
    if not path.parent.is_dir():
        raise SettingsError(
            f"There is no folder {path.parent} for the secret key file {path.name}",
            "make it, or name another file",
        )
    keys = SigningKeys(_new_key())
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    _write(part, keys)
    try:
        os.link(part, path)
        wait_for_disk(path.parent)
    except FileExistsError:  # another server that starts at this moment was first
        return _kept_keys(path)
    finally:
        part.unlink()
    return keys


def _replace(path: Path, keys: SigningKeys) -> None:
    """Replace the file; not if it is read-only, although its folder would allow that."""
    if not path.stat().st_mode & stat.S_IWUSR:
        raise PermissionError(None, "its mode is read-only")
    part = path.with_name(f"{path.name}.new")
    part.unlink(missing_ok=True)
    _write(part, keys)
    if os.geteuid() == 0:  # the file still belongs to the service
        os.chown(part, path.stat().st_uid, path.stat().st_gid)
    part.rename(path)
    wait_for_disk(path.parent)


def _write(path: Path, keys: SigningKeys) -> None:
    former = [
        " ".join([key.value.decode(), *([key.until.isoformat()] if key.until else [])])
        for key in keys.former
    ]
    write_private(path, "".join(f"{line}\n" for line in (keys.present.decode(), *former)))


def _new_key() -> bytes:
    return secrets.token_hex(KEY_BYTES_MIN).encode()
