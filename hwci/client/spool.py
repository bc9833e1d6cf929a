# SPDX-License-Identifier: Apache-2.0
"""The spool: reports on the disk of a bench, from before they are sent until the server has them
(contract, "Command line").

This module decides how they are kept: whole or not at all, whenever a process is killed, and sent
by one process at a time. It sends nothing and knows no server: `dispatch.py` sends, and says what
became of it.

A report is one file, which `spool_files.py` knows to write and read; one that was refused lies in
`refused`, one after which a later one came in `superseded` (`spool_order.py`). Changes are made
under the lock `.lock`; a report is sent under one of the locks in `.sending`, which reports of the
same identity share: so an older report of a run never follows a newer one.
"""

import gzip
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hwci.client._address import parse_address
from hwci.client._call import Call, Credential
from hwci.client._protocol import Credentials, build_request
from hwci.client.files import locked, remove_unfinished, replace_whole, state_home
from hwci.client.spool_files import (
    SUPERSEDED,
    UNKNOWN,
    UNREADABLE,
    Kept,
    NewerFormatError,
    head_of,
    packed_body,
    plain_body,
    read_body,
    read_head,
    refused_content,
    unread,
    waiting_content,
)
from hwci.client.spool_order import Order, identity_of, is_report
from hwci.client.spool_view import ASKED_MAX_S, SpoolError, SpoolView

__all__ = [
    "ASKED_MAX_S",
    "BYTES_MAX",
    "FILES_MAX",
    "Spool",
    "SpoolError",
    "fingerprint_of",
    "spool_folder",
]

FILES_MAX = 10_000
BYTES_MAX = 200_000_000
_LOCKS = 64


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
class Spool(SpoolView):
    """Reports that wait in a folder, which any number of processes may share."""

    files_max: int = FILES_MAX
    bytes_max: int = BYTES_MAX

    # Keeping

    def keep(self, call: Call[None], address: str | None, key: str, name: str) -> Kept:
        """Put a report on the disk, as the latest of its identity. `address` None: nobody has told
        the server yet.

        Raises:
            SpoolError: it cannot be kept.
            HwciError: it could never be sent: the address or the key is none.
        """
        build_request(call, Credentials(ci_key=key), "")
        assert call.credential is Credential.CI_KEY, "only what CI reports is kept"
        server = UNKNOWN if address is None else str(parse_address(address))
        body = call.body or b""
        identity = identity_of(call.path, body)
        kept = Kept(Path(), name, call.method, call.path, server, fingerprint_of(key), self.clock())
        try:
            with self._changing():
                return self._keep(kept, identity, gzip.compress(body, mtime=0))
        except OSError as fault:
            raise SpoolError(
                f"{self.folder} cannot be written: {fault.strerror or fault}",
                "Set HWCI_SPOOL_DIR to a folder that this user may write and that outlives the job",
            ) from fault

    def _keep(self, kept: Kept, identity: str, body: bytes) -> Kept:
        for folder in (self.folder, *self._asides()):
            remove_unfinished(folder)
        self._order.tidy()
        replaced = sum(
            (one.address, one.fingerprint) == (kept.address, kept.fingerprint)
            for one in self._same(identity)
        )
        self._see_room(replaced, len(body))
        number = self._order.next_number(int(kept.created * 1e6))
        kept = replace(kept, path=self.folder / f"{number:020d}-{identity}.report")
        replace_whole(kept.path, waiting_content(kept, body))
        self._order.overtake(kept)
        return kept

    def _see_room(self, replaced: int, size: int) -> None:
        present = [*self._paths(), *self._aside("refused"), *self._aside(SUPERSEDED)]
        held = sum(path.lstat().st_size for path in present)
        if len(present) - replaced < self.files_max and held + size <= self.bytes_max:
            return
        raise SpoolError(
            f"{self.folder} is full: it holds {len(present):,} reports, {held:,} bytes",
            "Send what waits (hwci spool flush), and what was refused (hwci spool flush --refused),"
            " or remove the files in its folders `refused` and `superseded` once they were read",
        )

    def overtake(self, call: Call[None], address: str) -> None:
        """Put aside what waits and is earlier than a report that could not be kept.

        Raises:
            OSError: the folder cannot be written.
        """
        if self.folder.is_dir():
            with self._changing():
                self._order.overtake_all(identity_of(call.path, call.body or b""), address)

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
            (self.folder / SUPERSEDED / kept.path.name).unlink(missing_ok=True)

    def put_off(self, kept: Kept, reason: str, asked_s: float = 0.0) -> None:
        """Note why a report still waits, and how long the server asked to be left alone."""
        with self._changing():
            if not kept.path.exists():
                return
            body = packed_body(kept.path)
            now = read_head(kept.path)
            until = self.clock() + asked_s if asked_s else 0.0
            noted = replace(now, tries=now.tries + 1, reason=reason, not_before=until)
            replace_whole(kept.path, waiting_content(noted, body))

    def tidy(self) -> Sequence[Path]:
        """Put aside what is not to be sent, before what waits is: what a later report superseded,
        and files that a disk has damaged. Gives where the latter are now. One of which only the
        body is damaged shows it when it is taken.
        """
        found = []
        with suppress(OSError, SpoolError):  # then they stay, see `unopened`
            if self._paths():
                with self._changing():
                    self._order.tidy()
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
                content = refused_content(read_head(kept.path), reason)
                path.parent.mkdir(mode=0o700, exist_ok=True)
                replace_whole(path, content)
                kept.path.unlink()
        return path

    def put_back(self) -> int:
        """Let what was refused wait again, in its turn. Gives how many.

        Raises:
            OSError: a file cannot be written.
        """
        put = 0
        with self._changing():
            self._order.tidy()
            for path in filter(is_report, self._aside("refused")):
                with suppress(NewerFormatError, *UNREADABLE):
                    head, body = head_of(path), gzip.compress(plain_body(path), mtime=0)
                    kept = replace(head, path=self.folder / f"{path.stem}.report", reason="")
                    replace_whole(kept.path, waiting_content(kept, body))
                    path.unlink()
                    self._order.overtake(kept)
                    put += 1
        return put

    def keep_anew(self, path: Path, address: str, key: str) -> Kept:
        """Let a report that a person names wait as the latest of its identity, for this server and
        this key, wherever it lies and whatever it was meant for.

        Raises:
            SpoolError: it cannot be read, or not be kept.
        """
        try:
            head, body = head_of(path), plain_body(path)
        except (OSError, NewerFormatError, *UNREADABLE) as fault:
            reason = unread(path, fault).reason
            raise SpoolError(f"{path}: {reason}", "Name another: hwci spool list") from fault
        kept = self.keep(_report(head, body), address, key, head.name)
        with self._changing():
            for folder in (path.parent, self.folder / SUPERSEDED):
                (folder / path.name).unlink(missing_ok=True)
        return kept

    def readdress(self, kept: Kept, address: str) -> None:
        """Let a report wait for another server, unless a later one of its identity went there. One
        that another process sends right now stays as it is.

        Raises:
            OSError: the file cannot be opened, or written.
        """
        with self._sending(kept) as mine:
            if not mine or kept.address == address:
                return
            with suppress(NewerFormatError, *UNREADABLE), self._changing():
                now = replace(read_head(kept.path), address=address, not_before=0.0)
                if address in now.overtaken:
                    self._order.put_aside(kept.path)
                else:
                    replace_whole(kept.path, waiting_content(now, packed_body(kept.path)))
                    self._order.overtake(now)

    # Within

    @property
    def _order(self) -> Order:
        return Order(self.folder)

    def _call(self, kept: Kept) -> Call[None] | None:
        read = self._read(kept)
        return None if read is None or self._left(read[0]) else read[1]

    def _read(self, kept: Kept) -> tuple[Kept, Call[None]] | None:
        """Read a report; None: it is not there any more, of a newer hwci, or damaged, and set aside
        now.
        """
        try:
            now = read_head(kept.path)
            return now, _report(now, read_body(kept.path))
        except (FileNotFoundError, NewerFormatError):
            return None
        except UNREADABLE:
            self._damaged(kept.path)
            return None

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


def _report(head: Kept, body: bytes) -> Call[None]:
    method: Any = head.method
    return Call(method, head.target, None, 204, credential=Credential.CI_KEY, body=body)
