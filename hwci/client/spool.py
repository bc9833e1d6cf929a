# SPDX-License-Identifier: Apache-2.0
"""The spool: reports on the disk of a bench, from before they are sent until the server has them
(contract, "Command line").

This module decides how they are kept: whole or not at all, whenever a process is killed, and sent
by one process at a time. It sends nothing and knows no server: `dispatch.py` sends, and says what
became of it.

A waiting report is one file, a line of JSON and then the compressed body. One that was refused is
a file of JSON in `refused`, with the reason, for people to read. Changes are made under the lock
`.lock`; a report is sent under one of the locks in `.sending`, which reports of the same identity
share: so an older report of a run never follows a newer one.
"""

import gzip
import hashlib
import json
import os
import re
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from hwci.client._address import parse_address
from hwci.client._call import Call, Credential
from hwci.client._protocol import Credentials, build_request

FORMAT = 1
"""Raised when an older hwci could not read the files: it leaves those alone."""
FILES_MAX = 10_000
BYTES_MAX = 200_000_000
ASKED_MAX_S = 600.0
"""A server is left alone for as long as it asks, up to this."""

_IDENTITIES: Mapping[str, tuple[str, ...]] = {
    "/api/ci/run-report": ("repo_key", "run_id", "run_attempt", "box_key"),
    "/api/ci/merge-announce": ("repo_key", "suite", "sha"),
}
"""What makes two reports the same one (spec, "CI report endpoints"): the later replaces."""
_NAME = re.compile(r"[0-9]{20}-[0-9a-f]{32}\.report")
_LOCKS = 64
_UNFINISHED = ".new-"
_UNREADABLE = (ValueError, KeyError, TypeError)
"""What reading a file raises that is none of ours."""


class SpoolError(Exception):
    """A report cannot be kept. `fix`: what to do, in words for people."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Kept:
    """A report that waits. `fingerprint`: of the key that it is meant for, which is kept nowhere.

    `not_before`: when the server wants to be asked again, by the clock of this machine.
    """

    path: Path
    name: str
    method: str
    target: str
    address: str
    fingerprint: str
    created: float
    tries: int = 0
    reason: str = ""
    not_before: float = 0.0


@dataclass(frozen=True, slots=True)
class Refused:
    """A report that the server did not want. Its file holds the body, too."""

    path: Path
    name: str
    address: str
    created: float
    tries: int
    reason: str


_TOLD = ("name", "method", "target", "address", "fingerprint", "created")
_HEADER = (*_TOLD, "tries", "reason", "not_before")


def spool_folder(environ: Mapping[str, str]) -> Path | None:
    """Give `$HWCI_SPOOL_DIR`, else `$XDG_STATE_HOME/hwci/spool`; None: this user has no home."""
    if told := environ.get("HWCI_SPOOL_DIR"):
        return Path(told)
    try:
        state = Path(environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    except RuntimeError:
        return None
    return state / "hwci" / "spool"


def fingerprint_of(key: str) -> str:
    """Tell keys apart without telling them."""
    return hashlib.sha256(f"hwci-spool:{key}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Spool:
    """Reports that wait in a folder, which any number of processes may share."""

    folder: Path
    files_max: int = FILES_MAX
    bytes_max: int = BYTES_MAX
    clock: Callable[[], float] = field(default=time.time, repr=False)

    # Keeping

    def keep(self, call: Call[None], address: str, key: str, name: str) -> Kept:
        """Put a report on the disk. One of the same identity that still waits is replaced.

        Raises:
            SpoolError: it cannot be kept.
            HwciError: it could never be sent: the address or the key is none.
        """
        build_request(call, Credentials(ci_key=key), "")
        assert call.credential is Credential.CI_KEY, "only what CI reports is kept"
        server, owner = str(parse_address(address)), fingerprint_of(key)
        body = call.body or b""
        identity = _identity(call.path, body, server, owner)
        kept = Kept(Path(), name, call.method, call.path, server, owner, self.clock())
        try:
            with self._changing():
                return self._keep(kept, identity, gzip.compress(body, mtime=0))
        except OSError as fault:
            raise SpoolError(
                f"{self.folder} cannot be written: {fault.strerror or fault}",
                "Set HWCI_SPOOL_DIR to a folder that this user may write and that outlives the job",
            ) from fault

    def _keep(self, kept: Kept, identity: str, body: bytes) -> Kept:
        for unfinished in self.folder.glob(f"{_UNFINISHED}*"):
            unfinished.unlink()  # whoever began it was killed: it would hold the lock
        paths = self._paths()
        same = [path for path in paths if path.name.endswith(f"-{identity}.report")]
        self._see_room(len(paths) - len(same), len(body))
        # Never before those that wait, whatever the clock of the bench says.
        last = int(paths[-1].name[:20]) if paths else 0
        number = max(int(kept.created * 1e6), last + 1)
        kept = replace(kept, path=self.folder / f"{number:020d}-{identity}.report")
        _write(kept.path, _line(kept) + body)
        for path in same:
            path.unlink()
        return kept

    def _see_room(self, files: int, size: int) -> None:
        refused = list((self.folder / "refused").glob("*"))
        held = sum(path.stat().st_size for path in (*self._paths(), *refused))
        if files + len(refused) < self.files_max and held + size <= self.bytes_max:
            return
        raise SpoolError(
            f"{self.folder} is full: it holds {files + len(refused):,} reports, {held:,} bytes",
            "Send what waits (hwci spool flush), and remove the files in its folder `refused` once"
            " they were read",
        )

    # Asking

    def waiting(self) -> Sequence[Kept]:
        """Give what waits, oldest first. A file that a disk has damaged is set aside."""
        found = []
        for path in self._paths():
            try:
                kept = _read(path)
            except FileNotFoundError:
                continue  # sent meanwhile
            except _UNREADABLE:
                self._damaged(path)
                continue
            if kept is not None:
                found.append(kept)
        return found

    def refused(self) -> Sequence[Refused]:
        """Give what was set aside, oldest first."""
        return [_refused(path) for path in sorted((self.folder / "refused").glob("*"))]

    def holds(self, kept: Kept) -> bool:
        """Tell whether a report still waits: it was not sent, refused or replaced meanwhile."""
        return kept.path.exists()

    def refusal(self, kept: Kept) -> Refused | None:
        """Give the refusal of a report, whoever sent it."""
        path = self._refused_path(kept)
        return _refused(path) if path.exists() else None

    # Sending

    @contextmanager
    def taken(self, kept: Kept) -> Iterator[Call[None] | None]:
        """Give a report to send, and keep it from all others meanwhile.

        None: it does not wait any more, another process sends one of its identity right now, or the
        server asked for a pause, which another process may have noted.
        """
        with self._sending(kept) as mine:
            yield self._call(kept) if mine else None

    def sent(self, kept: Kept) -> None:
        """Let go of a report that the server has."""
        with self._changing():
            kept.path.unlink(missing_ok=True)

    def put_off(self, kept: Kept, reason: str, asked_s: float = 0.0) -> None:
        """Note why a report still waits, and how long the server asked to be left alone."""
        with self._changing():
            if not kept.path.exists():
                return
            body = kept.path.read_bytes().partition(b"\n")[2]
            now = _read(kept.path) or kept
            until = self.clock() + asked_s if asked_s else 0.0
            noted = replace(now, tries=now.tries + 1, reason=reason, not_before=until)
            _write(kept.path, _line(noted) + body)

    def set_aside(self, kept: Kept, reason: str) -> Path:
        """Put a report that the server refused where it is not sent again, beside the reason."""
        path = self._refused_path(kept)
        with self._changing():
            if kept.path.exists():
                now = _read(kept.path) or kept
                told = {name: getattr(now, name) for name in _TOLD}
                body = json.loads(gzip.decompress(kept.path.read_bytes().partition(b"\n")[2]))
                content = {**told, "tries": now.tries + 1, "reason": reason, "body": body}
                path.parent.mkdir(mode=0o700, exist_ok=True)
                _write(path, json.dumps(content, indent=2).encode())
                kept.path.unlink()
        return path

    def waiting_for(self, address: str, fingerprint: str | None) -> Sequence[Kept]:
        """Give what waits for a server and a key, or for any key, oldest first."""
        return [
            kept
            for kept in self.waiting()
            if kept.address == address and fingerprint in {None, kept.fingerprint}
        ]

    def not_before(self, address: str, fingerprint: str | None) -> float:
        """Give the seconds for which a server asked to be left alone, as far as it was noted."""
        asked = (self._left(kept) for kept in self.waiting_for(address, fingerprint))
        return max(asked, default=0.0)

    # Within

    def _left(self, kept: Kept) -> float:
        left = max(0.0, kept.not_before - self.clock())
        return left if left <= ASKED_MAX_S else 0.0  # else the clock of the bench was set back

    def _paths(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def _refused_path(self, kept: Kept) -> Path:
        return self.folder / "refused" / f"{kept.path.stem}.json"

    def _call(self, kept: Kept) -> Call[None] | None:
        try:
            now = _read(kept.path)
            if now is None or self._left(now):
                return None
            body = gzip.decompress(kept.path.read_bytes().partition(b"\n")[2])
        except FileNotFoundError:
            return None
        except (OSError, EOFError, zlib.error, *_UNREADABLE):
            self._damaged(kept.path)
            return None
        method: Any = now.method
        return Call(method, now.target, None, 204, credential=Credential.CI_KEY, body=body)

    def _damaged(self, path: Path) -> None:
        with self._changing():
            (self.folder / "refused").mkdir(mode=0o700, exist_ok=True)
            if path.exists():
                path.rename(self.folder / "refused" / f"{path.stem}.damaged")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Wait until no other process changes the folder."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(self.folder / ".lock", wait=True):
            yield

    @contextmanager
    def _sending(self, kept: Kept) -> Iterator[bool]:
        folder = self.folder / ".sending"
        folder.mkdir(mode=0o700, exist_ok=True)
        number = int(kept.path.stem[-8:], 16) % _LOCKS
        with _locked(folder / f"{number}", wait=False) as mine:
            yield mine


def _identity(path: str, body: bytes, *parties: str) -> str:
    """Give the same for the same report to the same server with the same key."""
    content = json.loads(body)
    names = _IDENTITIES.get(path)
    told = content if names is None else [content.get(name) for name in names]
    return hashlib.sha256(json.dumps([path, told, *parties]).encode()).hexdigest()[:32]


def _line(kept: Kept) -> bytes:
    content = asdict(kept)
    header = {"format": FORMAT, **{name: content[name] for name in _HEADER}}
    return json.dumps(header).encode() + b"\n"


def _read(path: Path) -> Kept | None:
    """Read the head of a file; None: a later hwci wrote it."""
    with path.open("rb") as file:
        header = json.loads(file.readline())
    if header["format"] != FORMAT:
        return None
    return Kept(path, **{name: header[name] for name in _HEADER})


def _refused(path: Path) -> Refused:
    try:
        content = json.loads(path.read_bytes())
        names = ("name", "address", "created", "tries", "reason")
        return Refused(path, **{name: content[name] for name in names})
    except _UNREADABLE:
        return Refused(path, path.name, "", path.stat().st_mtime, 0, "the file is damaged")


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it stands there whole or not at all, after a power cut too."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_UNFINISHED)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name, too, is on the disk
    finally:
        os.close(folder)


@contextmanager
def _locked(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a lock that ends with the process; give False where another holds it."""
    import fcntl  # noqa: PLC0415 - the client can be imported where there is none

    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
