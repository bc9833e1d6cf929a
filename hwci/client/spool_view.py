# SPDX-License-Identifier: Apache-2.0
"""What lies in the spool of a bench: who looks changes nothing (contract, "Command line"). How it
gets there, and what becomes of it, is decided in `spool.py`.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hwci.client.files import UNFINISHED
from hwci.client.spool_files import (
    DAMAGED,
    SUPERSEDED,
    UNKNOWN,
    UNREADABLE,
    Kept,
    NewerFormatError,
    Refused,
    head_of,
    read_aside,
    read_head,
    unread,
)
from hwci.client.spool_order import files_in, is_report

ASKED_MAX_S = 600.0
"""A server is left alone for as long as it asks, up to this."""


class SpoolError(Exception):
    """A report cannot be kept, or the folder cannot be read. `fix`: what to do, for people."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.fix = fix


@dataclass(frozen=True)
class SpoolView:
    """The reports in a folder."""

    folder: Path
    clock: Callable[[], float] = field(default=time.time, repr=False)

    def waiting(self) -> Sequence[Kept]:
        """Give what waits, oldest first. A file that cannot be opened or that a disk has damaged is
        passed over, and holds back none. Who looks changes nothing.

        Raises:
            SpoolError: the folder cannot be read.
        """
        return [head for _, head in self._heads() if isinstance(head, Kept)]

    def unopened(self) -> Sequence[Refused]:
        """Give the files that cannot be opened, are damaged, or of a newer hwci: what is in them is
        not sent.

        Raises:
            SpoolError: the folder cannot be read.
        """
        return [unread(path, head) for path, head in self._heads() if isinstance(head, Exception)]

    def refused(self) -> Sequence[Refused]:
        """Give what the server refused, or is damaged, oldest first."""
        return [read_aside(path) for path in self._aside("refused")]

    def superseded(self) -> Sequence[Refused]:
        """Return what was set aside as a later report came, oldest first."""
        return [read_aside(path) for path in self._aside(SUPERSEDED)]

    def superseded_by(self, kept: Kept) -> Sequence[Refused]:
        """Return the reports of other keys that were set aside as this one came."""
        found = []
        for path in self._aside(SUPERSEDED):
            with suppress(OSError, NewerFormatError, *UNREADABLE):
                same = path.stem[21:] == kept.path.stem[21:]
                if same and head_of(path).fingerprint != kept.fingerprint:
                    found.append(read_aside(path))
        return found

    def holds(self, kept: Kept) -> bool:
        """Tell whether a report still waits, or a later one in its place: it was not sent, and not
        set aside.
        """
        if (self.folder / SUPERSEDED / kept.path.name).exists():
            return False
        same = self._same(kept.path.stem[21:])
        return kept.path.exists() or any(one.address == kept.address for one in same)

    def refusal(self, kept: Kept) -> Refused | None:
        """Give a report that was refused, whoever sent it, or is damaged."""
        paths = (self._refused_path(kept), self._damaged_path(kept.path))
        return next((read_aside(path) for path in paths if path.exists()), None)

    def find(self, name: str) -> Sequence[Path]:
        """Return the reports that a name means: a file, or how its name begins."""
        folders = (self.folder, *self._asides())
        begins = Path(name).name
        return [
            path
            for folder in folders
            for path in files_in(folder)
            if begins and path.name.startswith(begins) and is_report(path)
        ]

    def waiting_for(self, address: str, fingerprint: str | None) -> Sequence[Kept]:
        """Give what waits for a server, or for one that nobody has told yet, and for a key, or for
        any key, oldest first. A folder that cannot be read any more holds back nothing that is in
        hand.
        """
        try:
            waiting = self.waiting()
        except SpoolError:
            return []
        return [
            kept
            for kept in waiting
            if kept.address in {address, UNKNOWN} and fingerprint in {None, kept.fingerprint}
        ]

    def elsewhere(self, address: str) -> Sequence[Kept]:
        """Give what waits for other servers than this, oldest first.

        Raises:
            SpoolError: the folder cannot be read.
        """
        return [kept for kept in self.waiting() if kept.address not in {address, UNKNOWN}]

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

    def _heads(self) -> Iterator[tuple[Path, Kept | Exception]]:
        """Give each file with what its head says, or why nothing can be known of it."""
        for path in self._paths():
            try:
                yield path, read_head(path)
            except FileNotFoundError:
                continue  # sent meanwhile
            except (OSError, NewerFormatError, *UNREADABLE) as fault:
                yield path, fault

    def _paths(self) -> list[Path]:
        try:
            return sorted(
                path
                for path in self.folder.iterdir()
                if path.suffix == ".report" and is_report(path)
            )
        except OSError as fault:
            if isinstance(fault, FileNotFoundError) and not os.path.lexists(self.folder):
                return []  # nothing was ever kept
            raise SpoolError(
                f"{self.folder} cannot be read: {fault.strerror or fault}",
                "Set HWCI_SPOOL_DIR to the folder of the reports, or make that yours to read",
            ) from fault

    def _same(self, identity: str) -> list[Kept]:
        """Give what waits of one identity."""
        same = []
        for path in self.folder.glob(f"*-{identity}.report"):
            with suppress(OSError, NewerFormatError, *UNREADABLE):
                same.append(read_head(path))
        return same

    def _asides(self) -> tuple[Path, Path]:
        return self.folder / "refused", self.folder / SUPERSEDED

    def _aside(self, name: str) -> list[Path]:
        found = files_in(self.folder / name)
        return sorted(path for path in found if not path.name.startswith(UNFINISHED))

    def _refused_path(self, kept: Kept) -> Path:
        return self.folder / "refused" / f"{kept.path.stem}.json"

    def _damaged_path(self, path: Path) -> Path:
        return self.folder / "refused" / f"{path.stem}{DAMAGED}"
