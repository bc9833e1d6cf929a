# SPDX-License-Identifier: Apache-2.0
"""The times of result files: how they are spelled, which of them are believed, and in which zone
those are that name none.

This module decides by the other times beside them and by when the file was written. A board's clock
may never have been set, and a file may have been copied long after its tests. What ran at these
times, it does not know.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from hwci.wire.base import parse_time, write_time

APART_MAX = timedelta(minutes=5)
"""How far two clocks may be apart that are both right."""
EARLIEST = datetime(2015, 1, 1, tzinfo=UTC)
"""An earlier time most likely comes from a clock that was not set."""
LATEST = datetime(9990, 1, 1, tzinfo=UTC)
"""No time that is read is later."""
PAUSE_MAX = timedelta(hours=6)
"""The longest pause within the times of one run: times that are further apart do not agree."""
APART_FILES_MAX = timedelta(days=7)
"""The same between files, and between boxes: they may wait for each other."""
RUN_MAX = timedelta(days=7)
"""How long a run may take by its times, where no part of them holds more than half."""
Key = TypeVar("Key")
FIX = "To correct it, set --started-at (HWCI_STARTED_AT)"


# How times are spelled


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time in a file, and what ran from then took. `local`: it names no zone, and is read as UTC.
    `other`: the same with day and month changed, if it may be read so.
    """

    at: datetime
    local: bool = False
    took: timedelta = timedelta(0)
    other: datetime | None = None

    @property
    def end(self) -> datetime:
        """When what it began had ended."""
        return _moved(self.at, self.took)


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = f"(?P<named>{'|'.join(_MONTHS)})[a-z]*\\.?"
_DATES = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)(?!\d)",
        r"(?<!\d)(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?!\d)",
        rf"(?<!\d)(?P<day>\d\d?)[-. ]+{_MONTH}[-., ]+(?P<year>\d{{4}})",
        rf"{_MONTH} +(?P<day>\d\d?),? +(?P<year>\d{{4}})",
        rf"{_MONTH} +(?P<day>\d\d?)(?= +\d\d?:).* (?P<year>\d{{4}})$",
        r"(?<!\d)(?P<day>\d\d?)(?P<sign>[-/.])(?P<month>\d\d?)[-/.](?P<year>\d{4}|\d\d)(?!\d)",
    )
)
_CLOCK = re.compile(
    r"(?:[T ,]|^)(?P<hour>\d\d?):?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?"
    r"(?: *(?P<half>[ap])\.?m\.?)?"
    r" *(?:(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?|(?P<utc>Z|UTC|GMT)\b)?"
    r"(?![:\d])",
    re.ASCII | re.IGNORECASE,
)
_SINCE_1970 = re.compile(r"(\d{9,10})(?:[.,](\d+))?|\d{13}|\d{16}|\d{19}", re.ASCII)


def stamp(text: str) -> Stamp | None:
    """Return the time in a text, None if there is none: ISO 8601 and near it, what `date` and
    `ctime` print, dates with slashes or points, and seconds, or parts of them, since 1970.
    """
    text = text.strip()[:100]
    for written in (text, f"{text}Z"):
        with suppress(ValueError):
            return Stamp(parse_time(written), local=written != text)
    with suppress(ValueError, OverflowError):
        if match := _SINCE_1970.fullmatch(text):
            whole = match[1] or text[:-3]
            micros = (match[2] or "")[:6] if match[1] else text[10:16]
            at = datetime.fromtimestamp(int(whole if match[1] else text[:10]), UTC)
            return Stamp(at.replace(microsecond=int(micros.ljust(6, "0"))))
        for form in _DATES:
            if date := form.search(text):
                return _spelled(text, date)
    return None


def stamps_of(text: str) -> list[Stamp]:
    """Return the time in a text as a list, empty if there is none."""
    read = stamp(text)
    return [] if read is None else [read]


def _spelled(text: str, date: re.Match[str]) -> Stamp | None:
    fields = date.groupdict()
    before, after = text[: date.start()], text[date.end() :]
    if ":" in date[0]:  # the year stands behind the time
        before = date[0]
    clock = _CLOCK.search(after) or _CLOCK.search(before)
    if clock is None:
        return None
    hour = int(clock["hour"])
    if clock["half"]:
        hour = hour % 12 + 12 * (clock["half"].lower() == "p")
    micros = int((clock["part"] or "")[:6].ljust(6, "0"))
    named = fields.get("named")
    month = int(fields["month"]) if named is None else _MONTHS.index(named.lower()) + 1
    year = int(fields["year"]) + (0 if fields["year"][2:] else 2000)
    offset = timedelta(hours=int(clock["hours"] or 0), minutes=int(clock["minutes"] or 0))
    rest = (hour, int(clock["minute"]), int(clock["second"] or 0), micros)
    readings = list[datetime]()
    for days in _orders(fields.get("sign"), int(fields["day"]), month, clock["half"]):
        with suppress(ValueError):
            readings.append(datetime(year, *days, *rest, tzinfo=UTC))
    if not readings:
        return None
    moved = [_moved(at, offset if clock["sign"] == "-" else -offset) for at in readings]
    local = clock["utc"] is None and clock["sign"] is None
    return Stamp(moved[0], local, other=moved[1] if len(moved) > 1 else None)


def _orders(sign: str | None, day: int, month: int, half: str | None) -> list[tuple[int, int]]:
    """Return month and day as they may be meant. Who writes slashes may write the month first, and
    who writes AM and PM does.
    """
    american = (day, month)
    if sign is None or sign == ".":
        return [(month, day)]
    return [american] if half else list(dict.fromkeys(((month, day), american)))


def _moved(at: datetime, by: timedelta) -> datetime:
    """Return a time that was moved, as far as times go."""
    try:
        return at + by
    except OverflowError:
        return at


# Which are believed


@dataclass(frozen=True, slots=True)
class Times:
    """When the tests of a file began; None if no time of it is believed. `notes`: what was not
    believed, and which zone was taken, to stand behind the name of the file.
    """

    started_at: datetime | None
    notes: tuple[str, ...] = ()


def times(stamps: Sequence[Stamp], written_at: datetime) -> Times:
    """Decide when the tests of a file began. `written_at`: when it was last changed. That is the
    end of its tests, unless it was copied since.
    """
    written = written_at if written_at >= EARLIEST else None  # archives may hold 1980
    latest = LATEST if written is None else written + APART_MAX
    fit = {
        key: read
        for key, stamp in enumerate(stamps)
        if (read := _fitting(stamp, latest)) is not None
    }
    local = _believed({key: stamp for key, stamp in fit.items() if stamp.local}, written)
    zone = _zone([fit[key] for key in local], written)
    placed = {key: _in_zone(stamp, zone or UTC_OFFSET) for key, stamp in fit.items()}
    believed = _believed(
        {key: stamp for key, stamp in placed.items() if stamp.at <= latest}, written
    )
    zone_notes = _zone_notes(zone) if local & believed else ()
    odd = [stamp.at for key, stamp in enumerate(stamps) if key not in believed]
    began = min((placed[key].at for key in believed), default=None)
    return Times(began, (*zone_notes, *_odd_notes(odd, len(stamps)), *_age_notes(began, written)))


def _believed(spans: Mapping[Key, Stamp], written: datetime | None) -> set[Key]:
    """Return which times are believed: those that agree, unless they are of long ago and others are
    near the writing of the file. A board's clock may write most times of a file.
    """
    agreed = agreeing(spans)
    if written is None or any(written - spans[key].at <= LONG_AGO for key in agreed):
        return agreed
    return (
        agreeing({key: span for key, span in spans.items() if written - span.at <= LONG_AGO})
        or agreed
    )


def agreeing(spans: Mapping[Key, Stamp], pause: timedelta = PAUSE_MAX) -> set[Key]:
    """Return which times agree: those of the part, without such a pause in it, that most are in;
    where there is none, those not long before the latest.
    """
    parts, last = list[list[Key]](), None
    for key, span in sorted(spans.items(), key=lambda item: item[1].at):
        if last is None or span.at > _moved(last, pause):
            parts.append([])
        parts[-1].append(key)
        last = span.end if last is None else max(last, span.end)
    largest = max(parts, key=len, default=[])
    if 2 * len(largest) > len(spans):
        return set(largest)
    newest = max(span.at for span in spans.values()) if spans else EARLIEST
    return {key for key, span in spans.items() if span.at >= newest - RUN_MAX}


UTC_OFFSET = timedelta(0)
EASTERNMOST = timedelta(hours=14)
OFFSETS = tuple(
    timedelta(minutes=minutes)
    for minutes in (
        *range(-12 * 60, 14 * 60 + 1, 60),
        *(-9 * 60 - 30, -3 * 60 - 30, -2 * 60 - 30),
        *(hours * 60 + 30 for hours in (3, 4, 5, 6, 9, 10)),
        *(hours * 60 + 45 for hours in (5, 8, 12, 13)),
    )
)
"""How far the zones of the world are from UTC."""
OLD = timedelta(days=3 * 365)
"""How long before the file was written a time is worth a note, though it is believed."""
WRITTEN_WITHIN = timedelta(minutes=10)
"""How long after its tests a file is written that was not copied since."""
LONG_AGO = timedelta(days=30)
"""How long before the file was written a time may be that of a clock that was not set."""
OVERLAP = timedelta(minutes=3)
"""How much longer its tests may seem to have taken."""


def _fitting(stamp: Stamp, latest: datetime) -> Stamp | None:
    """Return a time as it is meant, None if no clock that was set showed it."""
    until = latest + EASTERNMOST if stamp.local else latest
    readings = [
        at
        for at in (stamp.at, stamp.other)
        if at is not None and EARLIEST <= at <= until and not _is_first_day(at, latest)
    ]
    return replace(stamp, at=max(readings), other=None) if readings else None


def _is_first_day(at: datetime, latest: datetime) -> bool:
    """Return whether a time is that of a clock without a battery, which begins with some year."""
    return (at.month, at.day) == (1, 1) and latest != LATEST and latest - at > LONG_AGO


def _zone(agreed: Sequence[Stamp], written: datetime | None) -> timedelta | None:
    """Return how far the zone of times is from UTC, by when the file was written. None: that does
    not tell, as it was copied since; then they are read as UTC.
    """
    if written is None or not agreed:
        return None
    ahead = max(span.end for span in agreed) - written
    fit = [offset for offset in OFFSETS if -OVERLAP <= offset - ahead <= WRITTEN_WITHIN]
    if fit:
        return fit[0]
    ahead = max(stamp.at for stamp in agreed) - written
    # What began after the file was written, read as UTC, was east of it, and waited.
    east = [offset for offset in OFFSETS if offset >= ahead]
    return min(east, default=None) if ahead > APART_MAX else None


def _in_zone(stamp: Stamp, zone: timedelta) -> Stamp:
    return replace(stamp, at=_moved(stamp.at, -zone)) if stamp.local else stamp


def _zone_notes(zone: timedelta | None) -> tuple[str, ...]:
    if zone == UTC_OFFSET:
        return ()
    what = "They are read as UTC: when it was written does not tell"
    if zone is not None:
        minutes = abs(zone) // timedelta(minutes=1)
        sign = "-" if zone < UTC_OFFSET else "+"
        shown = f"UTC{sign}{minutes // 60:02}:{minutes % 60:02}"
        what = f"By when it was written, that is {shown}"
    return (f": Its times name no zone. {what}. {FIX}",)


def _age_notes(began: datetime | None, written: datetime | None) -> tuple[str, ...]:
    if began is None or written is None or written - began <= OLD:
        return ()
    what = f"It was written {(written - began).days:,} days after it began, at {write_time(began)}"
    return (f": {what}. Where the clock was wrong, set it. {FIX}",)


def _odd_notes(odd: Sequence[datetime], many: int) -> tuple[str, ...]:
    if not odd:
        return ()
    first = write_time(odd[0])
    if many == 1:
        what = f"Its time, {first}, is not believed"
    else:
        are = "is" if len(odd) == 1 else "are"
        what = f"{len(odd):,} of its {many:,} times {are} not believed, such as {first}"
    return (f": {what}, beside the others and when it was written. Set the clock that wrote it",)
