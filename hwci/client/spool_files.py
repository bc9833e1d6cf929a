# SPDX-License-Identifier: Apache-2.0
"""The files of the spool: how a report is written and read again, with what is to be known of it.
Which files there are, and who may change one, is decided in `spool.py`.

A waiting report is one file, a line of JSON and then the compressed body. One that was refused is
a file of JSON with the reason, for people to read. One that was superseded is a file of either kind
in another folder.
"""

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

FORMAT = 1
"""Raised when an older hwci could not read the files: it leaves those alone."""
UNKNOWN = ""
"""The address of a report whose server nobody has told yet."""
SUPERSEDED = "superseded"
"""The folder of reports after which a later one of the same identity came."""
DAMAGED = ".damaged"
"""How the name of a file ends that was set aside as it cannot be read."""
UNREADABLE = (ValueError, KeyError, TypeError, EOFError, gzip.BadGzipFile, zlib.error)
"""What reading a file raises that is none of ours. One that cannot even be opened (`OSError`) may
be whole: it is another user's, or the disk is away. It stays where it is.
"""


class NewerFormatError(Exception):
    """A file was written by a newer hwci, and is left to that."""

    def __init__(self, found: object) -> None:
        super().__init__(
            f"a newer hwci wrote it (format {found}; this one knows {FORMAT}), and can send it"
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """A report that waits. `fingerprint`: of the key that it is meant for, which is kept nowhere.

    `not_before`: when the server wants to be asked again, by the clock of this machine.
    `overtaken`: the other addresses for which a later report of the same identity was kept.
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
    overtaken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A report that was set aside: the server did not want it, a later one superseded it, or its
    file cannot be read.
    """

    path: Path
    name: str
    address: str
    created: float
    tries: int
    reason: str
    newer: bool = False
    """A newer hwci wrote it: it waits for that one."""

    @property
    def damaged(self) -> bool:
        """Tell whether it was set aside as nobody can read it: no server has seen it."""
        return self.path.suffix == DAMAGED

    @property
    def superseded(self) -> bool:
        """Tell whether it was set aside as a later report of its identity came."""
        return self.path.parent.name == SUPERSEDED


_TOLD = ("name", "method", "target", "address", "fingerprint", "created")
_HEAD = (*_TOLD, "tries", "reason", "not_before")


def waiting_content(kept: Kept, packed: bytes) -> bytes:
    """Write a report that waits, with its compressed body."""
    content = asdict(kept)
    told = {name: content[name] for name in (*_HEAD, "overtaken")}
    return json.dumps({"format": FORMAT, **told}).encode() + b"\n" + packed


def read_head(path: Path) -> Kept:
    """Read what is to be known of a report that waits.

    Raises:
        NewerFormatError: a newer hwci wrote it.
    """
    with path.open("rb") as file:
        head = json.loads(file.readline())
    if head["format"] > FORMAT:
        raise NewerFormatError(head["format"])
    told = {name: head[name] for name in _HEAD}
    return Kept(path, **told, overtaken=tuple(head.get("overtaken", ())))


def head_of(path: Path) -> Kept:
    """Read what is to be known of a report that waits, or was refused.

    Raises:
        NewerFormatError: a newer hwci wrote it.
    """
    if path.suffix != ".json":
        return read_head(path)
    content = json.loads(path.read_bytes())
    told = {name: content[name] for name in (*_TOLD, "tries", "reason")}
    return Kept(path, **told, overtaken=tuple(content.get("overtaken", ())))


def overtaken_content(path: Path, address: str) -> bytes:
    """Write a report that waits, or was refused, with one more address that a later one went to."""
    head = head_of(path)
    overtaken = (*head.overtaken, address)
    if path.suffix != ".json":
        return waiting_content(replace(head, overtaken=overtaken), packed_body(path))
    return json.dumps({**json.loads(path.read_bytes()), "overtaken": overtaken}, indent=2).encode()


def packed_body(path: Path) -> bytes:
    """Read the body of a report that waits, compressed as it is."""
    return path.read_bytes().partition(b"\n")[2]


def read_body(path: Path) -> bytes:
    """Read the body of a report that waits."""
    return gzip.decompress(packed_body(path))


def refused_content(kept: Kept, reason: str) -> bytes:
    """Write a report that was refused, from its file that waits."""
    told = {name: getattr(kept, name) for name in _TOLD}
    told |= {"tries": kept.tries + 1, "reason": reason, "overtaken": kept.overtaken}
    body = json.loads(read_body(kept.path))
    return json.dumps({**told, "body": body}, indent=2).encode()


def read_aside(path: Path) -> Refused:
    """Read what is to be known of a report that was set aside, or why nothing is."""
    try:
        if path.suffix == DAMAGED:
            raise ValueError
        head = head_of(path)
    except (OSError, NewerFormatError, *UNREADABLE) as fault:
        return unread(path, fault)
    return Refused(path, head.name, head.address, head.created, head.tries, head.reason)


def unread(path: Path, fault: Exception) -> Refused:
    """Say of a file why nothing is known of it."""
    try:
        changed = path.lstat().st_mtime
    except OSError:
        changed = 0.0
    reason = "the file is damaged"
    if isinstance(fault, OSError):
        reason = f"the file cannot be opened: {fault.strerror or fault}"
    elif isinstance(fault, NewerFormatError):
        reason = str(fault)
    return Refused(path, path.name, "", changed, 0, reason, isinstance(fault, NewerFormatError))


def plain_body(path: Path) -> bytes:
    """Read the body of a report that waits, or was set aside."""
    if path.suffix != ".json":
        return read_body(path)
    return json.dumps(json.loads(path.read_bytes())["body"]).encode()


def body_of(report: Kept | Refused) -> Mapping[str, Any]:
    """Give what a report says, as far as it can be read."""
    try:
        found = json.loads(plain_body(report.path))
    except (OSError, *UNREADABLE):
        return {}
    return found if isinstance(found, dict) else {}
