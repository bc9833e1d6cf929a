# SPDX-License-Identifier: Apache-2.0
r"""Control characters in XML. XML 1.0 forbids them, and a board's serial line is full of them:
written as they are, as by tools that only print XML, the first would end the file there. So each
is spelled, as `\x1b`, before the XML is read: what stands behind it counts, and no two names become
one. Not so the zero, which a disk gives where it lost what stood there.

What the elements mean, this module does not know.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

CONTROLS = bytes([*range(0x01, 0x09), 0x0B, 0x0C, *range(0x0E, 0x20)])
"""All of those that XML 1.0 forbids, but the zero."""
_CONTROL = re.compile(b"[" + CONTROLS + b"]")
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")
"""How UTF-16 begins, where the bytes of controls are halves of letters."""


class Spelled:
    """The content of a file, chunk after chunk, with its control characters spelled. `many`: how
    many there were so far. `line`: on which the first of them stands.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self.many = 0
        self.line = 1

    def __iter__(self) -> Iterator[bytes]:
        """Give the chunks."""
        first = next(self._chunks, b"")
        chunks = chain((first,), self._chunks)
        return chunks if first.startswith(_WIDE) else map(self._spelled, chunks)

    def _spelled(self, chunk: bytes) -> bytes:
        # Most files hold none, and this tells so faster than any pattern.
        found = len(chunk) - len(chunk.translate(None, CONTROLS))
        if not self.many:
            at = _CONTROL.search(chunk) if found else None
            self.line += chunk.count(b"\n", 0, at.start() if at else len(chunk))
        self.many += found
        return _CONTROL.sub(_spelling, chunk) if found else chunk

    def notes(self) -> tuple[str, ...]:
        """Say that there were some, to stand behind the name of the file."""
        if not self.many:
            return ()
        have = "1 control character" if self.many == 1 else f"{self.many} control characters"
        what = f"It holds {have}, which XML forbids; they are read as text, such as \\x1b"
        return (f":{self.line}: {what}. Let what writes the file leave them out",)


def _spelling(control: re.Match[bytes]) -> bytes:
    return b"\\x%02x" % ord(control[0])
