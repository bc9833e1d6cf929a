# SPDX-License-Identifier: Apache-2.0
"""Sets of tests as masks."""

from hypothesis import given
from hypothesis import strategies as st

from hwci.engine.derived import rows


@given(st.sets(st.integers(0, 5_000)))
def test_the_tests_of_a_mask_come_in_order(tests: set[int]) -> None:
    assert list(rows.tests_in(sum(1 << test for test in tests))) == sorted(tests)
