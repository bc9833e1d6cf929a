# SPDX-License-Identifier: Apache-2.0
"""What a report says of a commit: its first line, its time and its hashes (spec, "Run report").

Authors, e-mail addresses and the rest of the message are read over, never kept.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
_SECONDS = re.compile(r"(-?[0-9]+) [+-][0-9]+$")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, without what is nobody's business. `parents`: also those that are not here."""

    tree: str
    parents: tuple[str, ...]
    subject: str
    committed_at: datetime | None


def commit_of(written: bytes) -> Commit:
    """Read a commit as git stores it."""
    head, _, message = written.partition(b"\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.decode("utf-8", "replace").split("\n"):
        name, _, value = line.partition(" ")
        fields.setdefault(name, []).append(value)
    encoding = fields.get("encoding", ["utf-8"])[0]
    return Commit(
        tree=fields["tree"][0],
        parents=tuple(fields.get("parent", ())),
        subject=_first_line(message, encoding),
        committed_at=_time(fields.get("committer", [""])[0]),
    )


def storable(text: str) -> str:
    """Write U+FFFD for what no report can hold."""
    return _NOT_STORABLE.sub("\ufffd", text)


def _first_line(message: bytes, encoding: str) -> str:
    line = next((line for line in message.split(b"\n") if line.strip()), b"").strip()
    try:
        return storable(line.decode(encoding, "replace"))
    except (LookupError, ValueError):  # no such encoding, or none for text
        return line.decode("utf-8", "replace")


def _time(committer: str) -> datetime | None:
    found = _SECONDS.search(committer)
    try:
        return datetime.fromtimestamp(int(found[1]), UTC) if found else None
    except (ValueError, OverflowError, OSError):  # a time that no calendar holds
        return None
