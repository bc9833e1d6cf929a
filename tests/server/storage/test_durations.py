# SPDX-License-Identifier: Apache-2.0
"""Durations come back bit by bit, and those of whole milliseconds take little room."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.server.storage.sql.codec import (
    duration_at,
    pack_durations,
    pack_shas,
    unpack_durations,
    unpack_shas,
)

SECONDS = st.floats(min_value=0, allow_infinity=False) | st.just(-0.0)
WHOLE = st.integers(0, 2**33).map(lambda millis: millis / 1000)


def bits(durations: list[float] | tuple[float, ...]) -> bytes:
    return struct.pack(f"<{len(durations)}d", *durations)


@given(st.lists(WHOLE) | st.lists(SECONDS) | st.lists(SECONDS | WHOLE))
def test_durations_come_back_as_they_were(durations: list[float]) -> None:
    packed = pack_durations(durations)
    each = [duration_at(packed, place) for place in range(len(durations))]

    assert bits(unpack_durations(packed)) == bits(each) == bits(durations)


def test_whole_milliseconds_take_less_than_half_the_room() -> None:
    durations = [test * 7919 % 10_007 / 1000 for test in range(1000)]

    assert len(pack_durations(durations)) < len(zlib.compress(bits(durations), 1)) / 2


@pytest.mark.parametrize("count", [1, 7, 100, 1_000, 5_000])
def test_values_of_any_length_are_compressed_as_well_as_in_the_largest_window(count: int) -> None:
    some = [f"{number * 7919 % 10_007:040x}" for number in range(count)]
    shas = (*some, *some)  # what repeats lies as far apart as it can
    packed = pack_shas(shas)

    assert packed is not None
    assert unpack_shas(packed) == shas
    assert len(packed) <= len(zlib.compress(" ".join(shas).encode(), 1)) + 8
