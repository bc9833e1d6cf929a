# SPDX-License-Identifier: Apache-2.0
"""How times are read and written (semantics, 10)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.contract.runs.commits import Fix
from hwci.contract.runs.merges import Merge
from hwci.wire.base import parse_time, write_time
from hwci.wire.codec import as_json, from_json

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
MICROS = NOON.replace(microsecond=123456)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-03-02T12:00:00Z", NOON),
        ("2026-03-02t12:00:00z", NOON),
        ("2026-03-02T14:00:00+02:00", NOON),
        ("2026-03-02T14:00:00+0200", NOON),
        ("2026-03-02T06:30:00-05:30", NOON),
        ("2026-03-02T12:00:00-00:00", NOON),
        ("2026-03-03T11:59:00+23:59", NOON),
        ("2026-03-02T14:00:00+02", NOON),
        ("2026-03-02T12:00Z", NOON),
        ("2026-03-02T14:00+02:00", NOON),
        ("2026-03-02 12:00:00Z", NOON),
        ("2026-03-02 14:00:00 +0200", NOON),
        ("2026-03-02 12:00:00.123456+00", MICROS),
        ("2026-03-02T12:00:00,123456789+00:00", MICROS),
        ("2026-03-02T12:00:00.123456Z", MICROS),
        ("2026-03-02T12:00:00.123456999999Z", MICROS),
        ("2026-03-02T12:00:00.1Z", NOON.replace(microsecond=100_000)),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_a_date_time_with_an_offset_is_read_as_utc(text: str, instant: datetime) -> None:
    assert parse_time(text) == instant
    assert parse_time(text).utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-02T12:00:00",
        "2026-03-02",
        "2026-03-02T12:00",
        "2026-03-02T12:00.5Z",
        "2026-03-02  12:00:00Z",
        "2026-03-02T12Z",
        "2026-03-02 12:00:00 02:00",
        "20260302T120000Z",
        "2026-W10-1T12:00:00Z",
        "2026-061T12:00:00Z",
        "2026-03-02T12:00:60Z",
        "2026-03-02T23:59:60Z",
        "2026-03-02T24:00:00Z",
        "2026-03-02T12:60:00Z",
        "2026-02-29T12:00:00Z",
        "2026-13-01T12:00:00Z",
        "2026-00-01T12:00:00Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-00:01",
        "2026-03-02T12:00:00+24:00",
        "2026-03-02T12:00:00+02:60",
        "2026-03-02T12:00:00+2:00",
        "2026-03-02T12:00:00  +02:00",
        "2026-03-02T12:00:00.Z",
        "2026-03-02T12:00:00,Z",
        "+2026-03-02T12:00:00Z",
        "12026-03-02T12:00:00Z",
        "٢٠٢٦-03-02T12:00:00Z",
        " 2026-03-02T12:00:00Z",
        "2026-03-02T12:00:00Z\n",
        "now",
        "",
    ],
)
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="ISO 8601 date-time with an offset"):
        parse_time(text)


def test_times_are_written_as_utc_to_the_microsecond() -> None:
    east = timezone(timedelta(hours=2))

    assert write_time(NOON.astimezone(east)) == "2026-03-02T12:00:00Z"
    assert write_time(MICROS) == "2026-03-02T12:00:00.123456Z"


@given(st.datetimes(timezones=st.just(UTC)))
def test_an_answer_has_each_time_as_it_is_written_everywhere(instant: datetime) -> None:
    written = as_json(Fix, Fix(sha="abcdef0", started_at=instant)).decode()

    assert f'"startedAt":"{write_time(instant)}"' in written


def test_a_time_in_an_answer_is_read_back_as_the_same_instant() -> None:
    merge = Merge(repo_key="r", suite=None, sha="abcdef0", branch="main", merged_at=MICROS)

    written = as_json(Merge, merge)

    assert b'"mergedAt":"2026-03-02T12:00:00.123456Z"' in written
    assert from_json(Merge, written) == merge
