# SPDX-License-Identifier: Apache-2.0
"""The encoding of a result file: its bytes become UTF-8, chunk after chunk.

This module decides how an encoding is told: by a mark at the start, then by zeros among the first
bytes, then by the declaration of XML. What the text means, it does not know.
"""

import codecs
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from hwci.ci.results.content import ContentError, CutError, Position

HEAD_BYTES = 1_024
"""Bytes in which a declaration of XML ends."""
MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\0\0": "utf-32-le",
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}
"""Byte order marks, a longer one before what it begins with."""
ZEROS = {
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
}
"""Which of the first four bytes are zero: letters of ASCII in each of these."""
_IN_PLACE_OF = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "936": "gb18030",
    "shift_jis": "cp932",
    "sjis": "cp932",
    "31j": "cp932",
    "932": "cp932",
    "euc_kr": "cp949",
    "949": "cp949",
    "ascii": "utf-8",
    "ansi": "cp1252",
    "utf-8-sig": "utf-8",
}
"""What is read in place of an encoding: one that holds all its letters and more, as tools write."""
_WIDE = re.compile(r"utf-(?:16|32)(?:-[lb]e)?|(?:iso-10646-)?ucs-[24]|unicode")
"""Encodings of several bytes for each letter. A file that could be read byte by byte up to such a
declaration is in none of them, as .NET writes it, and is read as UTF-8.
"""
_PREFIX = re.compile(r"x-|windows-|ms-?(?=\d)")
"""What some names have in front, beside those that Python knows."""
KNOWN = re.compile(
    r"utf-8|gb18030|hz|big5(hkscs)?|cp932|shift_jis\w+|euc_\w+|iso2022_\w+|cp949|johab|cp950"
    r"|iso8859-\d+|cp(125\d|437|7\d\d|8\d\d)|koi8-\w|mac-\w+|tis-620|kz1048|ptcp154|hp-roman8"
)
"""Encodings by Python's names in which ASCII stands as it is, and that no text can make slow."""
_FOREIGN = "hwci.foreign"
_FOREIGN_AT = 0xDC00
_FOREIGN_BYTES = re.compile(f"[{chr(_FOREIGN_AT)}-{chr(_FOREIGN_AT + 0xFF)}]")
"""Half of a pair of UTF-16, which no text holds, stands for a byte that is no letter."""
_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)""")


class InUtf8:
    r"""The content of a file as UTF-8, without a byte order mark, chunk after chunk. Bytes that are
    no letters in its encoding stand as `\xe9`. `foreign`: whether there were any.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._encoding = "utf-8"
        self.foreign = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the chunks.

        Raises:
            ContentError: the file declares an encoding that nobody knows.
        """
        head, rest = _with_head(self._chunks)
        mark = next((mark for mark in MARKS if head.startswith(mark)), b"")
        self._encoding = MARKS[mark] if mark else _encoding_of(head)
        chunks = chain((head[len(mark) :],), rest)
        return self._checked(chunks) if self._encoding == "utf-8" else self._decoded(chunks)

    def _checked(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        utf8 = getincrementaldecoder("utf-8")("backslashreplace")
        for chunk, last in chain(zip(chunks, repeat(False)), [(b"", True)]):
            waiting = len(utf8.getstate()[0])  # the beginning of a letter
            whole = utf8.decode(chunk, last).encode()
            left = len(utf8.getstate()[0])
            self.foreign |= waiting + len(chunk) != len(whole) + left
            if not last or whole:
                yield chunk if whole == chunk else whole

    def _decoded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        decoder = getincrementaldecoder(self._encoding)(_FOREIGN)
        for chunk, last in chain(zip(chunks, repeat(False)), [(b"", True)]):
            text = decoder.decode(chunk, last)
            try:
                yield text.encode()
            except UnicodeEncodeError:
                self.foreign = True
                yield _FOREIGN_BYTES.sub(_in_words, text).encode()

    def notes(self) -> tuple[str, ...]:
        """Return notes, to stand behind the name of the file, if something is not as it should."""
        if not self.foreign:
            return ()
        name = self._encoding.upper()
        what = f"It holds bytes that are not {name}; they are read as text, such as \\xe9"
        return (f": {what}. Let what writes the file write UTF-8",)


def _as_half(fault: UnicodeError) -> tuple[str, int]:
    assert isinstance(fault, UnicodeDecodeError)
    lost = fault.object[fault.start : fault.end]
    return "".join(chr(_FOREIGN_AT + byte) for byte in lost), fault.end


codecs.register_error(_FOREIGN, _as_half)


def _in_words(half: re.Match[str]) -> str:
    return f"\\x{ord(half[0]) - _FOREIGN_AT:02x}"


def _with_head(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes, as many as tell the encoding, and the other chunks."""
    head = b""
    try:
        while len(head) < HEAD_BYTES and (chunk := next(chunks, b"")):
            head += chunk
    except CutError as fault:
        return head, _broken_off(fault)
    return head, chunks


def _broken_off(fault: CutError) -> Iterator[bytes]:
    yield b""
    raise fault


def _encoding_of(head: bytes) -> str:
    """Return the encoding of a file without a mark, by its first bytes."""
    for zeros, wide in ZEROS.items():
        if tuple(byte == 0 for byte in head[:4]) == zeros:
            return wide
    declared = _DECLARED.match(head)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii", "replace")
    if (codec := codec_of(name)) is None:
        place = Position(head.count(b"\n", 0, declared.start(1)) + 1, 1)
        what = f"Its encoding cannot be read: {name[:40]!r} is not known"
        raise ContentError(what, "Write UTF-8", place)
    return codec


def codec_of(name: str) -> str | None:
    """Return what to read for the name of an encoding, None if nobody knows it."""
    name = name.lower()
    bare = _PREFIX.sub("", name)
    for spelling in (name, bare, f"cp{bare}"):
        try:
            codec = codecs.lookup(spelling).name
        except (LookupError, ValueError):
            codec = spelling
        codec = "utf-8" if _WIDE.fullmatch(codec) else _IN_PLACE_OF.get(codec, codec)
        if KNOWN.fullmatch(codec):
            return codec
    return None
