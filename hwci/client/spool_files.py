# SPDX-License-Identifier: Apache-2.0
"""The files of the spool: how a report is written and read again, with what is to be known of it.
Which files there are, and who may change one, is decided in `spool.py`.

A waiting report is one file, a line of JSON and then the compressed body. One that was refused is
a file of JSON with the reason, for people to read.
"""

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FORMAT = 1
"""Raised when an older hwci could not read the files: it leaves those alone."""
DAMAGED = ".damaged"
"""How the name of a file ends that was set aside as it cannot be read."""
UNREADABLE = (ValueError, KeyError, TypeError, EOFError, gzip.BadGzipFile, zlib.error)
"""What reading a file raises that is none of ours. One that cannot even be opened (`OSError`) may
be whole: it is another user's, or the disk is away. It stays where it is.
"""


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
    """A report that the server did not want, or a file that cannot be read. Else it holds the body,
    too.
    """

    path: Path
    name: str
    address: str
    created: float
    tries: int
    reason: str

    @property
    def damaged(self) -> bool:
        """Tell whether it was set aside as nobody can read it: no server has seen it."""
        return self.path.suffix == DAMAGED


_TOLD = ("name", "method", "target", "address", "fingerprint", "created")
_HEAD = (*_TOLD, "tries", "reason", "not_before")


def waiting_content(kept: Kept, packed: bytes) -> bytes:
    """Write a report that waits, with its compressed body."""
    content = asdict(kept)
    head = {"format": FORMAT, **{name: content[name] for name in _HEAD}}
    return json.dumps(head).encode() + b"\n" + packed


def read_head(path: Path) -> Kept | None:
    """Read what is to be known of a report that waits; None: a later hwci wrote it."""
    with path.open("rb") as file:
        head = json.loads(file.readline())
    if head["format"] != FORMAT:
        return None
    return Kept(path, **{name: head[name] for name in _HEAD})


def packed_body(path: Path) -> bytes:
    """Read the body of a report that waits, compressed as it is."""
    return path.read_bytes().partition(b"\n")[2]


def read_body(path: Path) -> bytes:
    """Read the body of a report that waits."""
    return gzip.decompress(packed_body(path))


def refused_content(kept: Kept, reason: str) -> bytes:
    """Write a report that was refused, from its file that waits."""
    told = {name: getattr(kept, name) for name in _TOLD}
    body = json.loads(read_body(kept.path))
    content = {**told, "tries": kept.tries + 1, "reason": reason, "body": body}
    return json.dumps(content, indent=2).encode()


def waiting_again(path: Path) -> tuple[Kept, bytes] | None:
    """Read a refused report as one that waits, with its compressed body; None: nobody can."""
    try:
        content = json.loads(path.read_bytes())
        kept = Kept(path, **{name: content[name] for name in _TOLD}, tries=content["tries"])
        return kept, gzip.compress(json.dumps(content["body"]).encode(), mtime=0)
    except (OSError, *UNREADABLE):
        return None


def read_refused(path: Path) -> Refused:
    """Read what is to be known of a report that was refused, or why nothing is."""
    try:
        content = json.loads(path.read_bytes())
        names = ("name", "address", "created", "tries", "reason")
        return Refused(path, **{name: content[name] for name in names})
    except (OSError, *UNREADABLE) as fault:
        return unread(path, fault)


def unread(path: Path, fault: Exception) -> Refused:
    """Say of a file why nothing is known of it."""
    try:
        changed = path.lstat().st_mtime
    except OSError:
        changed = 0.0
    reason = "the file is damaged"
    if isinstance(fault, OSError):
        reason = f"the file cannot be opened: {fault.strerror or fault}"
    return Refused(path, path.name, "", changed, 0, reason)


def body_of(report: Kept | Refused) -> Mapping[str, Any]:
    """Give what a report says, as far as it can be read."""
    try:
        if isinstance(report, Refused):
            found = json.loads(report.path.read_bytes())["body"]
        else:
            found = json.loads(read_body(report.path))
    except (OSError, *UNREADABLE):
        return {}
    return found if isinstance(found, dict) else {}
