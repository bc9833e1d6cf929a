# SPDX-License-Identifier: Apache-2.0
"""One odd time in a result file never moves a run, and a time without a zone is read in the zone
that the writing of its file shows.
"""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.ci.reporting import clock
from hwci.ci.results.model import FileResults, merged
from hwci.ci.results.read import read_results
from hwci.ci.results.times import OFFSETS, Stamp, stamp, times
from hwci.ci.results.verdicts import BUILT_IN
from hwci.client.explained import ExplainedError

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

Write = Callable[..., FileResults]


@pytest.fixture
def read(tmp_path: Path) -> Write:
    def of_suites(*suites: tuple[str, float], written_at: datetime = NOON) -> FileResults:
        path = tmp_path / "results.xml"
        written = "".join(
            f'<testsuite name="s{at}" timestamp="{began}" time="{took}">'
            f'<testcase classname="c" name="t{at}" time="{took}"/></testsuite>'
            for at, (began, took) in enumerate(suites)
        )
        path.write_text(f"<testsuites>{written}</testsuites>")
        os.utime(path, (written_at.timestamp(), written_at.timestamp()))
        return read_results(path, BUILT_IN)

    return of_suites


def spelled(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}"


@pytest.mark.parametrize(
    "odd",
    [
        *("0001-01-01T00:00:00", "1970-01-01T01:00:00.000", "1970-01-01T00:00:07Z"),
        *("1980-01-01T00:00:00", "2000-01-01T00:00:12", "2010-01-01T00:00:00Z"),
        *("2021-06-01T08:00:00", "2025-03-02T11:59:00Z", "2026-03-01T11:59:00Z"),
        *("2026-03-02T04:00:00Z", "2030-01-01T00:00:00", "2106-02-07T06:28:15Z"),
        *("2026-03-05T12:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00"),
        *("0001-01-01T00:00:00+14:00", "4294967295", "Thu Jan  1 00:00:03 1970"),
    ],
)
@pytest.mark.parametrize("place", [0, 4, 9])
def test_one_odd_time_of_ten_never_moves_the_run(read: Write, odd: str, place: int) -> None:
    suites = [(f"{spelled(NOON - (10 - at) * MINUTE)}Z", 30.0) for at in range(9)]
    suites.insert(place, (odd, 1.0))

    file = read(*suites)

    assert file.started_at == NOON - 10 * MINUTE
    [note] = file.notes
    assert "1 of its 10 times is not believed" in note


@pytest.mark.parametrize("odd", ["1970-01-01T00:00:00", "2021-01-01T00:00:09", "2036-01-01T00:00"])
def test_a_file_of_odd_times_alone_has_no_time(read: Write, odd: str) -> None:
    file = read((odd, 2.0), (odd, 3.0))

    assert file.started_at is None
    assert merged([file]).reckoned_start == NOON - timedelta(seconds=5)
    assert "2 of its 2 times are not believed" in file.notes[0]


def test_of_two_times_the_one_near_the_writing_counts(read: Write) -> None:
    assert read(("2021-06-01T00:00:00Z", 1), (f"{spelled(NOON - HOUR)}Z", 1)).started_at == (
        NOON - HOUR
    )


def test_a_soak_of_days_has_no_odd_time(read: Write) -> None:
    day = DAY.total_seconds()
    suites = [(f"{spelled(NOON - days * DAY)}Z", day) for days in (4, 3, 2, 1)]

    file = read(*suites, written_at=NOON)

    assert (file.started_at, file.notes) == (NOON - 4 * DAY, ())


def test_suites_far_from_each_other_are_a_run_of_days(read: Write) -> None:
    file = read(*((f"{spelled(NOON - hours * HOUR)}Z", 60) for hours in (30, 20, 10, 1)))

    assert (file.started_at, file.notes) == (NOON - 30 * HOUR, ())


@given(
    st.sampled_from(OFFSETS),
    st.integers(0, 9 * 60),
    st.lists(st.integers(0, 3_600), min_size=1, max_size=5),
)
def test_a_time_without_zone_is_read_in_the_zone_it_was_written_in(
    zone: timedelta, waited: int, lengths: list[int]
) -> None:
    """West as east, in quarters of an hour."""
    lasted = [timedelta(seconds=length) for length in lengths]
    start = NOON - timedelta(seconds=waited) - sum(lasted, timedelta(0))
    starts = [start + sum(lasted[:at], timedelta(0)) for at in range(len(lasted))]
    stamps = [
        Stamp(at + zone, local=True, took=took) for at, took in zip(starts, lasted, strict=True)
    ]

    found = times(stamps, NOON)

    assert found.started_at == start
    assert len(found.notes) == (zone != timedelta(0))


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        (timedelta(hours=-6), "UTC-06:00"),
        (timedelta(hours=-3, minutes=-30), "UTC-03:30"),
        (timedelta(hours=5, minutes=45), "UTC+05:45"),
        (timedelta(hours=10, minutes=30), "UTC+10:30"),
        (timedelta(hours=13), "UTC+13:00"),
        (timedelta(hours=-12), "UTC-12:00"),
    ],
)
def test_the_zone_that_was_taken_is_said(read: Write, zone: timedelta, shown: str) -> None:
    file = read((spelled(NOON - HOUR + zone), 3_595.0))

    assert file.started_at == NOON - HOUR
    [note] = file.notes
    assert f"that is {shown}. To correct it, set --started-at" in note


@pytest.mark.parametrize("later", [25 * MINUTE, 5 * HOUR + 20 * MINUTE, 3 * DAY, 1_200 * DAY])
def test_a_file_that_was_copied_since_is_in_utc_and_that_is_said(
    read: Write, later: timedelta
) -> None:
    """A checkout and a download give a file the time that they wrote it."""
    file = read((spelled(NOON - HOUR), 3_600.0), written_at=NOON + later)

    assert file.started_at == NOON - HOUR
    zone, *age = file.notes
    assert "They are read as UTC: when it was written does not tell" in zone
    assert ["1,200 days after it began" in note for note in age] == [True] * (later > 1_095 * DAY)


@pytest.mark.parametrize("boards", [["2021-03-04T05:06:07Z"] * 2, ["2020-02-02T02:02:02Z"] * 5])
def test_times_near_the_writing_go_before_those_of_most_suites_whose_board_has_no_clock(
    read: Write, boards: list[str]
) -> None:
    file = read(*((at, 1.0) for at in boards), (f"{spelled(NOON - MINUTE)}Z", 50.0))

    assert file.started_at == NOON - MINUTE
    [note] = file.notes
    assert f"{len(boards)} of its {len(boards) + 1} times are not believed" in note


def test_a_time_of_when_old_results_were_converted_does_not_move_them(read: Write) -> None:
    began = NOON - 8 * DAY
    runs = [(f"{spelled(began + at * MINUTE)}Z", 30.0) for at in range(3)]

    assert read(*runs, (f"{spelled(NOON)}Z", 0.0)).started_at == began


def test_a_time_of_long_ago_alone_is_believed_and_said(read: Write) -> None:
    file = read(("2021-03-04T05:06:07Z", 1.0))

    assert file.started_at == datetime(2021, 3, 4, 5, 6, 7, tzinfo=UTC)
    [note] = file.notes
    assert "days after it began, at 2021-03-04T05:06:07Z" in note


def test_a_zone_of_its_own_needs_no_writing(read: Write) -> None:
    file = read(("2026-03-02T05:45:00-06:00", 60), written_at=NOON + 40 * DAY)

    assert (file.started_at, file.notes) == (NOON - 15 * MINUTE, ())


def test_a_file_of_an_archive_without_times_believes_its_own(read: Write) -> None:
    written_at = datetime(1980, 1, 1, tzinfo=UTC)
    file = read((spelled(NOON), 60), written_at=written_at)

    assert file.started_at == NOON
    assert "They are read as UTC" in file.notes[0]


@pytest.mark.parametrize(
    "text",
    [
        *("2026-11-28T13:04:26", "2026-11-28 13:04:26", "2026-11-28 13:04:26,000"),
        *(
            "2026/11/28 13:04:26",
            "20261128 13:04:26.000",
            "20261128T130426Z",
            "2026-11-28T13:04:26Z",
        ),
        *(
            "Sat Nov 28 13:04:26 2026",
            "Sat Nov 28 13:04:26 UTC 2026",
            "Sat Nov 28 13:04:26 CET 2026",
        ),
        *("Sat, 28 Nov 2026 13:04:26 +0000", "Sat Nov 28 14:04:26 +0100 2026"),
        *("11/28/2026 1:04:26 PM", "11/28/2026 13:04:26", "28/11/2026, 13:04:26"),
        *("28.11.2026 13:04:26", "Nov 28, 2026 1:04:26 PM", "2026-11-28 01:04:26 PM"),
        *("Sat Nov 28 2026 14:04:26 GMT+0100 (CET)", "28-Nov-2026 13:04:26", "13:04:26 28.11.2026"),
        *("1795871066", "1795871066.0", "1795871066000", "1795871066000000", "1795871066000000000"),
        "  Saturday, November 28, 2026 1:04:26 p.m. ",
    ],
)
def test_a_time_is_read_however_it_is_spelled(text: str) -> None:
    read = stamp(text)

    assert read is not None
    assert datetime(2026, 11, 28, 13, 4, 26, tzinfo=UTC) in {read.at, read.other}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "soon",
            "2026-03-02",
            "12:00:00",
            "2026-13-45T00:00:00",
            "31/31/2026 10:00",
            "17",
            "-1",
        ),
        *("2026-03-02T24:61:00", "Nov 28 13:04 UTC", "99999999999999999999", "1e9"),
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert stamp(text) is None


@given(st.text(st.sampled_from("0123456789:-/., TZ+APMNovSat"), max_size=40))
def test_no_text_is_too_odd_for_a_time(text: str) -> None:
    read = stamp(text)

    assert read is None or times([read], NOON).started_at is None or read.at.tzinfo is UTC


def test_day_and_month_are_told_by_when_the_file_was_written(read: Write) -> None:
    april = read(("03/04/2026 11:58", 60), written_at=datetime(2026, 4, 3, 12, tzinfo=UTC))
    march = read(("03/04/2026 11:58", 60), written_at=datetime(2026, 3, 4, 12, tzinfo=UTC))

    assert [one.started_at and one.started_at.month for one in (april, march)] == [4, 3]


def file_at(started_at: datetime) -> FileResults:
    return FileResults([], 0, started_at, 60.0, written_at=NOON)


def test_one_odd_file_of_a_box_never_moves_it() -> None:
    odd = datetime(2021, 6, 1, tzinfo=UTC)

    box = merged([file_at(NOON - HOUR), file_at(odd), file_at(NOON - 2 * HOUR)])

    assert (box.started_at, box.odd_starts) == (NOON - 2 * HOUR, (odd,))


def test_two_files_of_a_box_that_ran_hours_apart_are_one_run() -> None:
    box = merged([file_at(NOON - 20 * HOUR), file_at(NOON - HOUR)])

    assert (box.started_at, box.odd_starts) == (NOON - 20 * HOUR, ())


UNSET = datetime(1970, 1, 1, 0, 5, tzinfo=UTC)


def test_a_run_is_numbered_by_the_first_time_that_a_right_clock_may_have_shown() -> None:
    assert clock.of_run([UNSET, NOON - HOUR], NOON) == NOON - HOUR
    assert clock.of_run([NOON + DAY, None], NOON) == NOON
    assert clock.of_run([None, NOON], UNSET) == NOON


def test_a_run_has_no_number_of_a_clock_that_was_never_set() -> None:
    with pytest.raises(ExplainedError) as caught:
        clock.of_run([None, UNSET], UNSET)

    assert "--run-id" in str(caught.value.message.fix)
