# SPDX-License-Identifier: Apache-2.0
"""Where the XML documents of a file begin: some runners append a whole document for each group of
tests, and what else they print may stand before and between them.

This module decides what of a file is given to no parser. What a document holds, it does not know.
"""

import re

from hwci.ci.results.content import WRITE_AGAIN, CutError, Position

_BEGIN = re.compile(rb"<(?:\?xml\s|(?:[\w.-]{1,40}:)?testsuites?[\s/>])")
_LONGEST = 64
"""Bytes of the longest beginning of a document."""
_END = b"</"
_BEGUN = re.compile(rb"<(?:\?x?m?l?|t[a-z]{0,9})\Z")
"""What may be the beginning of one that was cut short."""


def text_before(first: bytes) -> bool:
    """Return whether text stands before the first document. `first`: how the file begins."""
    if first.lstrip().startswith(b"<"):
        return False
    begin = _BEGIN.search(first)
    return begin is not None and _END not in first[: begin.start()]


class Between:
    """What stands beside the documents of a file. `text`: whether it is more than blank."""

    def __init__(self) -> None:
        self._tail = b""
        self.text = False

    def document(self, chunk: bytes, line: int, *, last: bool) -> tuple[bytes, int]:
        """Return the next bytes from where a document begins, none if none does there; and how many
        lines were passed. `line`: where the bytes begin.

        Raises:
            CutError: an element ends there that did not begin: what stood before it is lost; or a
            document was cut short.
        """
        whole = self._tail + chunk
        begin = _BEGIN.search(whole)
        end = begin.start() if begin else len(whole) if last else max(0, len(whole) - _LONGEST)
        passed, rest = whole[:end], whole[end:]
        if (at := whole.find(_END, 0, begin.start() if begin else len(whole))) >= 0:
            place = Position(line + whole.count(b"\n", 0, at), 1)
            what = "Its XML is broken: an element ends behind its document that began nowhere"
            raise CutError(what, WRITE_AGAIN, place)
        if last and (begun := _BEGUN.search(rest or passed)):
            place = Position(line + whole.count(b"\n", 0, len(whole) - len(begun[0])), 1)
            raise CutError("Its last document was cut short", WRITE_AGAIN, place)
        self.text |= bool(passed.strip())
        self._tail = b"" if begin else rest
        return rest if begin else b"", passed.count(b"\n")

    def notes(self) -> tuple[str, ...]:
        """Return the note, to stand behind the name of the file, if there was text."""
        if not self.text:
            return ()
        what = "It holds text beside its XML documents, which is not read"
        return (f": {what}. Let what runs the tests write it elsewhere",)
