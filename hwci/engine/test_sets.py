# SPDX-License-Identifier: Apache-2.0
"""Sets of tests as masks: bit n of a whole number stands for test n of a product.

This module decides how sets are written and counted. It does not know what they are sets of.
"""

import struct
from collections.abc import Collection, Iterator, Sequence

Mask = int
"""A set of tests."""

_BITS_OF = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]
_ZERO, _ONE = b"01"
_ONES = b"\x01"
_LANE = 4  # bytes of a count
_FEW = 8
"""So many tests are sooner put into a set, or found in it, one by one."""


def mask_of(tests: Collection[int]) -> Mask:
    """Return the set of these tests."""
    if len(tests) <= _FEW:
        mask = 0
        for test in tests:
            mask |= 1 << test
        return mask
    digits = bytearray([_ZERO]) * (max(tests) + 1)
    for test in tests:
        digits[test] = _ONE
    return int(digits[::-1], 2)


def tests_in(mask: Mask) -> Iterator[int]:
    """Yield the tests of a set, the lowest number first."""
    if mask.bit_count() <= _FEW:
        while mask:
            lowest = mask & -mask
            yield lowest.bit_length() - 1
            mask ^= lowest
        return
    for place, byte in enumerate(mask.to_bytes((mask.bit_length() + 7) // 8, "little")):
        if byte:
            for bit in _BITS_OF[byte]:
                yield 8 * place + bit


class CountedTests:
    """Counts of many tests at once: bit k of every count stands in the set `planes[k]`.

    Adding a set of a thousand tests is a few operations on whole numbers.
    """

    def __init__(self) -> None:
        self._planes: list[Mask] = []

    def add(self, tests: Mask, times: int) -> None:
        """Add a number to the count of each of these tests."""
        for plane in range(times.bit_length()):
            if times >> plane & 1:
                self._carry(tests, plane)

    def _carry(self, tests: Mask, plane: int) -> None:
        while tests:
            while len(self._planes) <= plane:
                self._planes.append(0)
            self._planes[plane], tests = self._planes[plane] ^ tests, self._planes[plane] & tests
            plane += 1

    def total(self, tests: Mask) -> int:
        """Return the sum of the counts of these tests."""
        return sum((plane & tests).bit_count() << k for k, plane in enumerate(self._planes))

    def counts(self, tests: int) -> Sequence[int]:
        """Return the counts of so many tests, from that with the number 0 on."""
        width = max((plane.bit_length() for plane in self._planes), default=0)
        lanes = bytearray(_LANE * width)
        for place in range(0, len(self._planes), 8):
            lanes[place // 8 :: _LANE] = _transposed(self._planes[place : place + 8], width)
        counts = struct.unpack(f"<{width}I", lanes)
        return (*counts[:tests], *[0] * (tests - width))


def _transposed(planes: Sequence[Mask], width: int) -> bytes:
    """Return a byte for each test: bit k of it is that of the test in the set `planes[k]`."""
    ones = int.from_bytes(_ONES * width)
    digits = 0
    for place, plane in enumerate(planes):
        # A digit for each test, the last test first; the lowest bit of a digit's byte is its value.
        digits |= (int.from_bytes(f"{plane:0{width}b}".encode()) & ones) << place
    return digits.to_bytes(width, "little")
