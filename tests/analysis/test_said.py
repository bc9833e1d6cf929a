# SPDX-License-Identifier: Apache-2.0
"""How numbers and chances are written, whoever computed them."""

import numpy as np

from hwci.said import joined, percent, signed, tenths


def test_a_number_of_numpy_is_written_as_any_other() -> None:
    assert f"{tenths(np.float64(81.25))}" == "81.3"
    assert percent(np.float64(0.125)) == "13 %"


def test_only_what_is_certain_is_none_or_all() -> None:
    assert [percent(chance) for chance in (0, 0.004, 0.005, 0.995, 0.996, 1)] == [
        *("0 %", "under 1 %", "1 %", "over 99 %", "over 99 %", "100 %")
    ]


def test_no_difference_has_no_sign() -> None:
    written = [signed(points) for points in (-0.04, 0, 0.04, 0.05, -0.05, 12)]

    assert written == ["0.0", "0.0", "0.0", "+0.1", "-0.1", "+12.0"]


def test_names_are_joined_as_in_a_sentence() -> None:
    assert [joined(names) for names in ("A", "AB", "ABC")] == ["A", "A and B", "A, B and C"]
