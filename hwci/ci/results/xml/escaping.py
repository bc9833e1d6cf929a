# SPDX-License-Identifier: Apache-2.0
"""The bytes of an XML file as its parser is given them: characters that XML forbids are escaped,
and of a very long value the beginning is given.

This module decides which bytes the parser sees, all of them UTF-8. What the elements mean, it does
not know.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from hwci.said import counted

VALUE_BYTES_MAX = 2 * 1024 * 1024
"""Bytes of an attribute's value that are read, many times what is kept of any, and more than one
chunk has, in which each byte may be written as four letters."""


class OpenTag:
    """What the parser was given and has not read: the beginning of a tag, which it reads anew with
    each further piece. So what is too long of a value is not given to it; a digest stands for that,
    as two names that begin alike are two tests. It is the same wherever the pieces end.
    """

    def __init__(self) -> None:
        self._begun = b""
        self._quote = b""
        self._room = 0
        self._left_out = hashlib.sha256()

    def shortened(self, chunk: bytes) -> bytes:
        """Return what to give to the parser of the next bytes: lines stay lines."""
        if not self._quote:
            return chunk
        value, quote, rest = chunk.partition(self._quote)
        start = _whole_letters(value, max(0, self._room))
        self._room -= len(value)
        lost = value[len(start) :]
        self._left_out.update(lost)
        text = start + b"\n" * lost.count(b"\n")
        if not quote:
            return text
        if self._room < 0:
            text += b"~" + self._left_out.hexdigest().encode()
        self._quote = b""
        return text + quote + rest

    @property
    def begun(self) -> bytes:
        """What the parser was given and has not read."""
        return self._begun

    def note(self, data: bytes, unread: int) -> None:
        """Note what the parser was given, and how many bytes of all that it has not read."""
        self._begun = (self._begun + data)[-unread:] if unread else b""
        if unread and not self._quote:
            self._quote, length = _open_value(self._begun)
            self._room = VALUE_BYTES_MAX - length
            self._left_out = hashlib.sha256()


def _whole_letters(value: bytes, room: int) -> bytes:
    """Return the beginning of a value: so many bytes, without a part of a letter or reference."""
    if len(value) <= room:
        return value
    while room and value[room] in _WITHIN_LETTER:
        room -= 1
    reference = value.rfind(b"&", max(0, room - _LONGEST_REFERENCE), room)
    is_whole = reference < 0 or b";" in value[reference:room]
    return value[: room if is_whole else reference]


def _open_value(tag: bytes) -> tuple[bytes, int]:
    """Return the quote that ends the value in which a tag breaks off, and the length so far."""
    if tag.startswith((b"<!", b"<?")):
        return b"", 0
    at = 0
    while quote := _QUOTE.search(tag, at):
        end = tag.find(quote[0], quote.end())
        if end < 0:
            return quote[0], len(tag) - quote.end()
        at = end + 1
    return b"", 0


_WITHIN_LETTER = range(0x80, 0xC0)
"""The bytes of a letter of UTF-8 but its first."""
_QUOTE = re.compile(b"[\"']")


# Characters that XML forbids

CONTROLS = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)])
"""The control characters that XML 1.0 forbids."""
_ALLOWED = (
    *(range(code, code + 1) for code in b"\t\n\r"),
    range(0x20, 0xD800),
    range(0xE000, 0xFFFE),
    range(0x10000, 0x110000),
)
"""The characters of XML 1.0 ("Char" of its grammar)."""
_HOLE = 512
"""So many zeros in a row, a sector of a disk, stand where a machine that crashed lost the content:
nothing says how many tests were there, so the file ends at them."""
_DIGITS = 60
"""Most digits of a reference, with zeros before the number."""
_CONTROL_OR_REFERENCE = re.compile(
    b"\0{%d,}|[%b]|&#(?!9;|10;|13;|x[9aAdD];)(?:([0-9]{1,%d})|x([0-9a-fA-F]{1,%d}));"
    % (_HOLE, CONTROLS, _DIGITS, _DIGITS)
)
_LONGEST_REFERENCE = len("&#x;") + _DIGITS


class EscapedControls:
    r"""The content of a file, chunk after chunk, with its control characters escaped as `\x1b`, and
    so are references to characters that XML forbids (`&#27;`, in CDATA as well): a board's serial
    line is full of them, and the first would end the XML there. So no two names become one.
    `many`: how many of both there were so far. `line`: that of the first one.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._lines_before = 1
        self.many = 0
        self.line = 1

    def __iter__(self) -> Iterator[bytes]:
        """Yield the chunks."""
        begun = b""  # what may be the beginning of a reference
        for chunk, last in chain(zip(self._chunks, repeat(False)), [(b"", True)]):
            whole = begun + chunk if begun else chunk
            cut = whole.rfind(b"&", max(0, len(whole) - _LONGEST_REFERENCE))
            begun = b"" if last or cut < 0 or b";" in whole[cut:] else whole[cut:]
            whole = whole[: len(whole) - len(begun)] if begun else whole
            if not last or whole:
                yield self._without_controls(whole)

    def _without_controls(self, content: bytes) -> bytes:
        # Most files hold none, and this finds out faster than any pattern.
        escaped = content
        if b"&#" in content or len(content.translate(None, CONTROLS)) < len(content):
            escaped = _CONTROL_OR_REFERENCE.sub(self._in_words, content)
        if not self.many:
            self._lines_before += content.count(b"\n")
        return escaped

    def _in_words(self, control: re.Match[bytes]) -> bytes:
        if control[1] or control[2]:
            number = int(control[1]) if control[1] else int(control[2], 16)
        else:
            number = control[0][0]
        if any(number in allowed for allowed in _ALLOWED) or len(control[0]) >= _HOLE:
            return control[0]
        if not self.many:
            self.line = self._lines_before + control.string.count(b"\n", 0, control.start())
        self.many += 1
        return b"\\x%02x" % number

    def notes(self) -> tuple[str, ...]:
        """Return notes, to stand behind the name of the file, if there were any."""
        if not self.many:
            return ()
        have = counted(self.many, "character")
        what = f"It holds {have} that XML forbids, read as text, such as \\x1b"
        return (f":{self.line}: {what}. Let what writes the file leave them out",)
