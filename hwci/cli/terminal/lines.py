# SPDX-License-Identifier: Apache-2.0
"""How text stands in the lines of a terminal: how long one is, and where a longer text is broken.
It writes nothing, and knows no table.
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple, TextIO

USUAL_WIDTH = 80
FURTHER = "  "
"""What stands before a line that goes on with the one above."""
_GOES_ON = " \\"
"""What ends a line of a command that goes on, to a shell."""
_COMMAND = re.compile(
    r"""(?:(?<=[:;][ ])|^)(?:[A-Z_]+=\S+[ ])*
    (?:hwci(?=[ ])|(?:\S+\ -m\ )?pip\ install|git\ checkout|export\ (?=\w+=)|eval\ (?="))
    (?:(?:(?<![.`])[ ])?(?:'[^']*'|"[^"]*"|[^\s;,()'"])+)+""",
    re.VERBOSE,
)
"""A command to paste; it stands behind a sign, or begins a line, and ends with the sentence."""
_BEFORE_A_FLAG = r""" (?=-|&& )(?=(?:[^'"]|'[^']*'|"[^"]*")*$)"""
"""Where a command is broken: never in quotes, nor between a flag and its value."""
_WORD = re.compile(r"(\s*)(\S+)")
_PART = r"\S+?(?=$|(?<=[/:._|-])[^\W\d_])"
"""What of a name stays in one line where no line holds all of it: up to a sign before a letter."""
_SHELL_WORD = re.compile(r"""(?:(?:--?[\w-]+|[<>]) (?![-<>]))?(?:'[^']*'|"[^"]*"|[^\s'"])+""")
"""A word to a shell; a flag has its value with it, a redirection its file."""


class _Piece(NamedTuple):
    """What stays in one line. `glue`: what stands between it and the one before in a line;
    `mark`: what ends the line before it, if it begins a new one.
    """

    glue: str
    text: str
    mark: str = ""


def width(stream: TextIO) -> int | None:
    """Return how many columns a line of a stream has; None where a program reads it."""
    if columns := os.environ.get("COLUMNS", ""):
        return int(columns) if columns.isdecimal() and int(columns) else USUAL_WIDTH
    if not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:  # something that calls itself a terminal
        return USUAL_WIDTH


def columns_of(text: str) -> int:
    """Return how many columns of a line a text takes: a letter of East Asia takes two, an accent
    that stands on a letter none.
    """
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Fill a text up with blanks."""
    blanks = " " * (columns - columns_of(text))
    return blanks + text if right else text + blanks


def broken(text: str, room: int, further: str = FURTHER) -> list[str]:
    """Return a text in lines of so many columns. Its own indentation stays, and lines that go on
    stand `further`. No word is broken, but a name that no line holds is, after a sign. A command
    is broken only before a flag, with the backslash that lets it be pasted; what no line holds of
    it stays whole, as an address does.
    """
    words = text.lstrip()
    indentation = text[: len(text) - len(words)]
    if columns_of(text) <= room:
        return [text]
    most = room - len(indentation + further)
    lines, begun = [indentation], False
    for piece, after in pairwise([*_pieces(words, most), _Piece("", "")]):
        longer = lines[-1] + piece.glue + piece.text
        if begun and columns_of(longer + after.mark) > room:
            lines[-1] += piece.mark
            longer = indentation + further + piece.text
            lines.append("")
        lines[-1], begun = longer, True
    return lines


def command(text: str, room: int) -> list[str]:
    """Return a command of a shell in lines of so many columns, to be pasted as they stand."""
    first, *words = _SHELL_WORD.findall(text)
    lines = [first]
    most = room - len(FURTHER + _GOES_ON)
    for word in chain.from_iterable(_apart(word, most) for word in words):
        if columns_of(f"{lines[-1]} {word}{_GOES_ON}") > room:
            lines[-1] += _GOES_ON
            lines.append(f"{FURTHER}{word}")
        else:
            lines[-1] += f" {word}"
    return lines


def _apart(word: str, most: int) -> list[str]:
    """Return a flag and its value, apart where no line holds both."""
    return word.split(" ", 1) if word.startswith("-") and columns_of(word) > most else [word]


def _pieces(text: str, most: int) -> Iterator[_Piece]:
    """Return the words of a text, and the parts of its commands."""
    end = 0
    for match in _COMMAND.finditer(text):
        words, blanks = text[end : match.start()].rstrip(), " " if match.start() else ""
        yield from _words(words, most)
        end = match.end()
        parts = re.split(_BEFORE_A_FLAG, match[0]) if columns_of(match[0]) > most else [match[0]]
        behind = text[end:].split(maxsplit=1)[0] if text[end : end + 1].strip() else ""
        parts[-1] += behind
        end += len(behind)
        yield _Piece(blanks, parts[0])
        yield from (_Piece(" ", part, _GOES_ON) for part in parts[1:])
    yield from _words(text[end:], most)


def _words(text: str, most: int) -> Iterator[_Piece]:
    """Return words, of which one that no line holds is broken after its signs, or anywhere."""
    for blanks, word in _WORD.findall(text):
        whole = columns_of(word) <= most or word.startswith(("http://", "https://"))
        first, *rest = [word] if whole else _cut(re.findall(_PART, word), most)
        yield _Piece(blanks, first)
        yield from (_Piece("", part) for part in rest)


def _cut(parts: Iterable[str], most: int) -> Iterator[str]:
    for part in parts:
        rest = part
        while columns_of(rest) > most:
            end = max(at for at in range(1, len(rest)) if at == 1 or columns_of(rest[:at]) <= most)
            yield rest[:end]
            rest = rest[end:]
        yield rest


def beside(facts: Iterable[str], room: int, *, ascii_only: bool) -> list[str]:
    """Return facts in lines of so many columns, beside each other where they fit, indented."""
    between = " | " if ascii_only else " · "
    lines: list[str] = []
    for fact in facts:
        if lines and columns_of(lines[-1] + between + fact) <= room:
            lines[-1] += between + fact
        else:
            lines += broken(FURTHER + fact, room)
    return lines
