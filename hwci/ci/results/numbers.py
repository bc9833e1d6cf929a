# SPDX-License-Identifier: Apache-2.0
"""Durations as files spell them: `1,234.5`, `1.234,5`, `0,160`, `12.5`, `150ms`, `00:01:02.5`.

This module decides which mark of a number begins its decimals. Only `1,234` and `1.234` leave it
open; the other numbers of the file decide these. What a number measures, it does not know.
"""

import re
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BeforeValidator

from hwci.wire import limits

_SPACES = re.compile("(?<=[0-9])[ '\u00a0\u2009\u202f\u2019](?=[0-9]{3})")
"""Marks that only stand between thousands."""
_NUMBER = re.compile(r"([0-9]*(?:[.,][0-9]*)+)([eE][+-]?[0-9]+)?")
_UNITS = {
    "us|\u00b5s": 1e-6,
    "ms": 1e-3,
    "s(?:ec(?:ond)?s?)?": 1.0,
    "m(?:in(?:ute)?s?)?": 60.0,
    "h(?:(?:ou)?rs?)?": 3600.0,
}
_PART = re.compile(
    rf"([0-9.,]+)\s*(?:{'|'.join(f'({unit})' for unit in _UNITS)})\s*", re.IGNORECASE
)
"""`150ms`, and each part of `1m 2.5s` or of ISO 8601's `PT1M2.5S`."""
_CLOCK = re.compile(r"(?:([0-9]+):)?([0-5]?[0-9]):([0-5]?[0-9](?:[.,][0-9]+)?)")
_OPEN = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")


@dataclass(slots=True)
class Numbers:
    """The numbers of one file, as far as it was read. `grouping`: the marks that stand between
    thousands where a number leaves that open.
    """

    grouping: frozenset[str] = frozenset()
    _decimal: set[str] = field(default_factory=set)
    """Marks that began the decimals of some number."""
    _groups: set[str] = field(default_factory=set)
    """Marks that stood between thousands of some number."""
    _open: set[str] = field(default_factory=set)
    """Marks that may have been either in some number."""
    _whole: bool = False
    """Some number from 1 has no mark."""

    def seconds(self, text: str) -> float:
        """Return the seconds in a text; 0 for any other text, below zero, as after a clock was set,
        and for longer than a test can take.
        """
        read = None
        if "." in self._decimal and "," not in text:  # most numbers of most files
            read = _float(text)
        if read is None:
            text = _SPACES.sub("", text.strip())
            read = self._spelled(text)
            if read is None:
                read = self._in_parts(text)
        return read if read is not None and 0 <= read <= limits.DURATION_MAX else 0.0

    def _in_parts(self, text: str) -> float | None:
        """Return the seconds of hours, minutes and seconds, or of numbers with units."""
        if clock := _CLOCK.fullmatch(text):
            parts = list(zip(clock.groups("0"), (3600.0, 60.0, 1.0), strict=True))
        else:
            text = text.upper().removeprefix("PT")
            if not text or _PART.sub("", text):
                return None
            parts = [
                (match[1], factor)
                for match in _PART.finditer(text)
                for unit, factor in zip(match.groups()[1:], _UNITS.values(), strict=True)
                if unit
            ]
        values = [(self._spelled(number), factor) for number, factor in parts]
        return sum((value or 0.0) * factor for value, factor in values)

    def _spelled(self, text: str) -> float | None:
        number = _NUMBER.fullmatch(text)
        if number is not None:
            text = self._with_decimal_dot(number[1], number[2] or "")
        read = _float(text)
        self._whole |= number is None and read is not None and read >= 1
        return read

    def _with_decimal_dot(self, digits: str, exponent: str) -> str:
        marks = [letter for letter in digits if letter in ".,"]
        last = marks[-1]
        if not exponent and _OPEN.fullmatch(digits):
            self._open.add(last)
            groups, decimal = last in self.grouping, last not in self.grouping
        else:
            groups, decimal = len(marks) > 1, marks.count(last) == 1
            self._groups.update(marks[:1] if groups else "")
            self._decimal.update(last if decimal else "")
        if not decimal:
            return digits.replace(last, "") + exponent
        whole, _, rest = digits.rpartition(last)
        return f"{whole.replace(marks[0], '') if groups else whole}.{rest}{exponent}"

    def decided(self) -> frozenset[str]:
        """Return the marks that stand between thousands where a number leaves that open, by all
        numbers that were read. A test rarely takes whole thousands of seconds to the millisecond,
        so both marks begin decimals if nothing shows otherwise.
        """
        grouping = set[str]()
        if "." in self._groups and "." not in self._decimal:
            grouping.add(".")
        shown = self._groups & {","} or self._decimal & {"."} or self._open & {"."} - grouping
        if "," not in self._decimal and (shown or self._whole):
            grouping.add(",")
        return frozenset(grouping & self._open)

    def note(self) -> tuple[str, ...]:
        """Return the note, to stand behind the name of the file, that nothing decided it."""
        if self._open != {","} or self._decimal or self._groups or self._whole:
            return ()
        what = "It has times such as 1,234, and nothing shows whether their comma stands before"
        return (f": {what} decimals or between thousands. It is read as before decimals",)


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def seconds(text: str) -> float:
    """Return the seconds in a text alone."""
    return Numbers().seconds(text)


def _seconds_of(value: object) -> float:
    return seconds(str(value)) if isinstance(value, int | float | str) else 0.0


def of_milliseconds(value: object) -> float:
    """Return the seconds of a number of milliseconds; 0 where `Numbers.seconds` is."""
    if isinstance(value, str):
        return seconds(f"{value}ms")
    if not isinstance(value, int | float) or not 0 <= value <= limits.DURATION_MAX * 1000:
        return 0.0
    return value / 1000


Seconds = Annotated[float, BeforeValidator(_seconds_of)]
"""A duration in JSON, written as a number or as text."""
Milliseconds = Annotated[float, BeforeValidator(of_milliseconds)]
"""The same of a number of milliseconds."""
