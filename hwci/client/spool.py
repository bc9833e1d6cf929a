# SPDX-License-Identifier: Apache-2.0
"""The spool: reports on the disk of a bench, from before they are sent until the server has them
(contract, "Command line").

This module decides how they are kept: whole or not at all, whenever a process is killed, and sent
by one process at a time. It sends nothing and knows no server: `dispatch.py` sends, and says what
became of it.

A report is one file, which `spool_files.py` knows to write and read; one that was refused lies in
`refused`. Changes are made under the lock `.lock`; a report is sent under one of the locks in
`.sending`, which reports of the same identity share: so an older report of a run never follows a
newer one.
"""

import gzip
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hwci.client._address import parse_address
from hwci.client._call import Call, Credential
from hwci.client._protocol import Credentials, build_request
from hwci.client.files import UNFINISHED, locked, remove_unfinished, replace_whole, state_home
from hwci.client.spool_files import (
    DAMAGED,
    UNREADABLE,
    Kept,
    Refused,
    packed_body,
    read_body,
    read_head,
    read_refused,
    refused_content,
    unread,
    waiting_again,
    waiting_content,
)

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


class SpoolError(Exception):
    """A report cannot be kept, or the folder cannot be read. `fix`: what to do, for people."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.fix = fix


def spool_folder(environ: Mapping[str, str]) -> Path | None:
    """Give `$HWCI_SPOOL_DIR`, else `$XDG_STATE_HOME/hwci/spool`; None: this user has no home."""
    if told := environ.get("HWCI_SPOOL_DIR"):
        return Path(told)
    state = state_home(environ)
    return None if state is None else state / "spool"


def fingerprint_of(key: str) -> str:
    """Tell keys apart without telling them."""
    return hashlib.sha256(f"hwci-spool:{key}".encode(errors="surrogatepass")).hexdigest()[:16]


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
        for folder in (self.folder, self.folder / "refused"):
            remove_unfinished(folder)
        paths = self._paths()
        same = [path for path in paths if path.name.endswith(f"-{identity}.report")]
        self._see_room(len(paths) - len(same), len(body))
        # Never before those that wait, whatever the clock of the bench says.
        last = int(paths[-1].name[:20]) if paths else 0
        number = max(int(kept.created * 1e6), last + 1)
        kept = replace(kept, path=self.folder / f"{number:020d}-{identity}.report")
        replace_whole(kept.path, waiting_content(kept, body))
        for path in same:
            path.unlink()
        return kept

    def _see_room(self, files: int, size: int) -> None:
        refused = self._refused_files()
        held = sum(path.lstat().st_size for path in (*self._paths(), *refused))
        if files + len(refused) < self.files_max and held + size <= self.bytes_max:
            return
        raise SpoolError(
            f"{self.folder} is full: it holds {files + len(refused):,} reports, {held:,} bytes",
            "Send what waits (hwci spool flush), and what was refused (hwci spool flush --refused),"
            " or remove the files in its folder `refused` once they were read",
        )

    # Asking

    def waiting(self) -> Sequence[Kept]:
        """Give what waits, oldest first. A file that cannot be opened or that a disk has damaged is
        passed over, and holds back none. Who looks changes nothing.

        Raises:
            SpoolError: the folder cannot be read.
        """
        return [head for _, head in self._heads() if isinstance(head, Kept)]

    def unopened(self) -> Sequence[Refused]:
        """Give the files that cannot be opened, or are damaged: what is in them is not sent.

        Raises:
            SpoolError: the folder cannot be read.
        """
        return [unread(path, head) for path, head in self._heads() if isinstance(head, Exception)]

    def refused(self) -> Sequence[Refused]:
        """Give what was set aside, oldest first."""
        return [read_refused(path) for path in self._refused_files()]

    def holds(self, kept: Kept) -> bool:
        """Tell whether a report still waits, or a later one in its place: it was not sent, and not
        set aside.
        """
        return kept.path.exists() or bool(self._same(kept.path.stem.partition("-")[2]))

    def refusal(self, kept: Kept) -> Refused | None:
        """Give a report that was set aside, whoever did: it was refused, or is damaged."""
        paths = (self._refused_path(kept), self._damaged_path(kept.path))
        return next((read_refused(path) for path in paths if path.exists()), None)

    # Sending

    @contextmanager
    def taken(self, kept: Kept) -> Iterator[Call[None] | None]:
        """Give a report to send, and keep it from all others meanwhile.

        None: it does not wait any more, another process sends one of its identity right now, or the
        server asked for a pause, which another process may have noted.

        Raises:
            OSError: the file cannot be opened now; it stays.
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
            body = packed_body(kept.path)
            now = read_head(kept.path) or kept
            until = self.clock() + asked_s if asked_s else 0.0
            noted = replace(now, tries=now.tries + 1, reason=reason, not_before=until)
            replace_whole(kept.path, waiting_content(noted, body))

    def set_damaged_aside(self) -> Sequence[Path]:
        """Put files that a disk has damaged where they are not looked at again, before what waits
        is sent, and give where they are now. One of which only the body is damaged shows it when it
        is taken.
        """
        found = []
        with suppress(OSError, SpoolError):  # then they stay, see `unopened`
            for path, head in self._heads():
                if isinstance(head, UNREADABLE):
                    self._damaged(path)
                    found.append(self._damaged_path(path))
        return found

    def set_aside(self, kept: Kept, reason: str) -> Path:
        """Put a report that the server refused where it is not sent again, beside the reason."""
        path = self._refused_path(kept)
        with self._changing():
            if kept.path.exists():
                content = refused_content(read_head(kept.path) or kept, reason)
                path.parent.mkdir(mode=0o700, exist_ok=True)
                replace_whole(path, content)
                kept.path.unlink()
        return path

    def put_back(self) -> int:
        """Let what was refused wait again, in its turn; what a later one has replaced meanwhile
        stays where it is. Gives how many.

        Raises:
            OSError: a file cannot be written.
        """
        put = 0
        with self._changing():
            for path in self._refused_files():
                found = waiting_again(path)
                if found is None or self._same(path.stem.partition("-")[2]):
                    continue
                replace_whole(self.folder / f"{path.stem}.report", waiting_content(*found))
                path.unlink()
                put += 1
        return put

    def readdress(self, kept: Kept, address: str) -> None:
        """Let a report wait for another server, unless a later one of its identity does. One that
        another process sends right now stays as it is.

        Raises:
            OSError: the file cannot be opened, or written.
        """
        with self._sending(kept) as mine:
            read = self._read(kept) if mine else None
            if read is None or kept.address == address:
                return
            now = replace(read[0], address=address, not_before=0.0)
            identity = _identity(now.target, read[1].body or b"", address, now.fingerprint)
            path = self.folder / f"{kept.path.name[:20]}-{identity}.report"
            with self._changing():
                same = self._same(identity)
                if not same or same[-1] < path:
                    replace_whole(path, waiting_content(now, packed_body(kept.path)))
                    for older in same:
                        older.unlink()
                kept.path.unlink()

    def waiting_for(self, address: str, fingerprint: str | None) -> Sequence[Kept]:
        """Give what waits for a server and a key, or for any key, oldest first. A folder that
        cannot be read any more holds back nothing that is in hand.
        """
        try:
            waiting = self.waiting()
        except SpoolError:
            return []
        return [
            kept
            for kept in waiting
            if kept.address == address and fingerprint in {None, kept.fingerprint}
        ]

    def elsewhere(self, address: str) -> Sequence[Kept]:
        """Give what waits for other servers than this, oldest first.

        Raises:
            SpoolError: the folder cannot be read.
        """
        return [kept for kept in self.waiting() if kept.address != address]

    def others_waiting(self, address: str, fingerprint: str) -> int:
        """Count what waits for a server, but for another key than this."""
        return sum(kept.fingerprint != fingerprint for kept in self.waiting_for(address, None))

    def not_before(self, address: str, fingerprint: str | None) -> float:
        """Give the seconds for which a server asked to be left alone, as far as it was noted."""
        asked = (self._left(kept) for kept in self.waiting_for(address, fingerprint))
        return max(asked, default=0.0)

    # Within

    def _left(self, kept: Kept) -> float:
        left = max(0.0, kept.not_before - self.clock())
        return left if left <= ASKED_MAX_S else 0.0  # else the clock of the bench was set back

    def _heads(self) -> Iterator[tuple[Path, Kept | Exception | None]]:
        """Give each file with what its head says, or why nothing can be known of it."""
        for path in self._paths():
            try:
                yield path, read_head(path)
            except FileNotFoundError:
                continue  # sent meanwhile
            except (OSError, *UNREADABLE) as fault:
                yield path, fault

    def _paths(self) -> list[Path]:
        try:
            return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))
        except OSError as fault:
            if isinstance(fault, FileNotFoundError) and not os.path.lexists(self.folder):
                return []  # nothing was ever kept
            raise SpoolError(
                f"{self.folder} cannot be read: {fault.strerror or fault}",
                "Set HWCI_SPOOL_DIR to the folder of the reports, or make that yours to read",
            ) from fault

    def _same(self, identity: str) -> list[Path]:
        """Give the files that wait of one identity, oldest first."""
        return sorted(self.folder.glob(f"*-{identity}.report"))

    def _refused_files(self) -> list[Path]:
        try:
            found = list((self.folder / "refused").iterdir())
        except OSError:
            return []  # nothing was ever refused, or nobody may look
        return sorted(path for path in found if not path.name.startswith(UNFINISHED))

    def _refused_path(self, kept: Kept) -> Path:
        return self.folder / "refused" / f"{kept.path.stem}.json"

    def _damaged_path(self, path: Path) -> Path:
        return self.folder / "refused" / f"{path.stem}{DAMAGED}"

    def _call(self, kept: Kept) -> Call[None] | None:
        read = self._read(kept)
        return None if read is None or self._left(read[0]) else read[1]

    def _read(self, kept: Kept) -> tuple[Kept, Call[None]] | None:
        """Read a report; None: it is not there any more, or damaged, and set aside now."""
        try:
            now = read_head(kept.path)
            body = read_body(kept.path)
        except FileNotFoundError:
            return None
        except UNREADABLE:
            self._damaged(kept.path)
            return None
        if now is None:
            return None
        method: Any = now.method
        call: Call[None] = Call(
            method, now.target, None, 204, credential=Credential.CI_KEY, body=body
        )
        return now, call

    def _damaged(self, path: Path) -> None:
        with self._changing():
            (self.folder / "refused").mkdir(mode=0o700, exist_ok=True)
            if path.exists():
                path.rename(self._damaged_path(path))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Wait until no other process changes the folder."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self.folder / ".lock", wait=True):
            yield

    @contextmanager
    def _sending(self, kept: Kept) -> Iterator[bool]:
        folder = self.folder / ".sending"
        folder.mkdir(mode=0o700, exist_ok=True)
        number = int(kept.path.stem[-8:], 16) % _LOCKS
        with locked(folder / f"{number}", wait=False) as mine:
            yield mine


def _identity(path: str, body: bytes, *parties: str) -> str:
    """Give the same for the same report to the same server with the same key."""
    content = json.loads(body)
    names = _IDENTITIES.get(path)
    told = content if names is None else [content.get(name) for name in names]
    return hashlib.sha256(json.dumps([path, told, *parties]).encode()).hexdigest()[:32]
