# SPDX-License-Identifier: Apache-2.0
"""Which of several reports of one identity is the later one, and what becomes of the earlier ones
(contract, "Command line"). It sends nothing, and whoever calls it holds the lock of the spool.

The name of a file tells both: a number that only grows, then the identity. Nobody here knows the
organization of a key, so two keys of one server may be of the same one: the later report counts,
whatever its key. An earlier one of the same key is surely replaced, and removed. One of another key
is put into `superseded`, for a person to decide. One for another server goes on waiting for it, and
bears the address to which it must not follow.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from hwci.client.files import replace_whole
from hwci.client.spool_files import (
    SUPERSEDED,
    UNREADABLE,
    Kept,
    NewerFormatError,
    head_of,
    overtaken_content,
    plain_body,
)

_IDENTITIES: Mapping[str, tuple[str, ...]] = {
    "/api/ci/run-report": ("repo_key", "run_id", "run_attempt", "box_key"),
    "/api/ci/merge-announce": ("repo_key", "suite", "sha"),
}
"""What makes two reports the same one (spec, "CI report endpoints"): the later replaces."""
_STEM = re.compile(r"([0-9]{20})-([0-9a-f]{40}|[0-9a-f]{32})")
_STEM_BEFORE = 53
"""So long is a name of the version before, which held the server and the key, too."""
_UNREAD = (OSError, NewerFormatError, *UNREADABLE)


def identity_of(target: str, body: bytes) -> str:
    """Return the same for two reports of which the later replaces the earlier."""
    content = json.loads(body)
    names = _IDENTITIES.get(target)
    told = content if names is None else [content.get(name) for name in names]
    return hashlib.sha256(json.dumps([target, told]).encode()).hexdigest()[:40]


def is_report(path: Path) -> bool:
    """Return whether a file is named as a report is."""
    return path.suffix in {".report", ".json"} and _STEM.fullmatch(path.stem) is not None


class Order:
    """The order of the reports in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._superseded = folder / SUPERSEDED

    def next_number(self, at_least: int) -> int:
        """Return a number for a new report: beyond all that are here, whatever the clock says."""
        numbers = (int(path.name[:20]) for path in self._reports(everywhere=True))
        return max(at_least, 1 + max(numbers, default=0))

    def overtake(self, newer: Kept) -> None:
        """Let nothing follow a report that is earlier than it, and of the same identity."""
        for path in self._earlier(newer.path):
            with suppress(*_UNREAD):
                head = head_of(path)
                waits = path.parent == self._folder
                if head.address != newer.address:
                    if newer.address not in head.overtaken:
                        replace_whole(path, overtaken_content(path, newer.address))
                elif waits and head.fingerprint == newer.fingerprint:
                    path.unlink()
                else:
                    self.put_aside(path)

    def overtake_all(self, identity: str, address: str) -> None:
        """Put aside all reports of an identity, before one is sent that could not be kept."""
        for path in self._reports():
            if path.stem[21:] == identity:
                with suppress(*_UNREAD):
                    if head_of(path).address == address:
                        self.put_aside(path)

    def put_aside(self, path: Path) -> None:
        """Put a report where nothing but its own name sends it."""
        self._superseded.mkdir(mode=0o700, exist_ok=True)
        path.rename(self._superseded / path.name)

    def tidy(self) -> None:
        """Do what a killed process or the version before left undone."""
        for path in self._reports(everywhere=True):
            if len(path.stem) == _STEM_BEFORE:
                with suppress(*_UNREAD):
                    identity = identity_of(head_of(path).target, plain_body(path))
                    path.rename(path.with_name(f"{path.name[:21]}{identity}{path.suffix}"))
        many = Counter(path.stem[21:] for path in self._reports())
        for path in sorted(self._folder.glob("*.report")):
            if many[path.stem[21:]] > 1:
                with suppress(*_UNREAD):
                    self.overtake(head_of(path))

    def _earlier(self, than: Path) -> list[Path]:
        return [
            path
            for path in self._reports()
            if path.stem[21:] == than.stem[21:] and path.name[:20] < than.name[:20]
        ]

    def _reports(self, *, everywhere: bool = False) -> list[Path]:
        """Return what waits or was refused, and `everywhere` what was superseded, too."""
        aside = [self._superseded] if everywhere else []
        folders = [self._folder, self._folder / "refused", *aside]
        return [path for folder in folders for path in files_in(folder) if is_report(path)]


def files_in(folder: Path) -> Iterator[Path]:
    """Give what lies in a folder; nothing, where there is none or nobody may look."""
    try:
        yield from folder.iterdir()
    except OSError:
        return
