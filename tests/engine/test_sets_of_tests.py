# SPDX-License-Identifier: Apache-2.0
"""Sets of tests as masks."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from hwci.engine import test_sets

SETS = st.sets(st.integers(0, 5_000))


@given(SETS)
def test_a_set_has_its_tests_in_order(tests: set[int]) -> None:
    mask = sum(1 << test for test in tests)

    assert test_sets.mask_of(tests) == mask
    assert list(test_sets.tests_in(mask)) == sorted(tests)


@given(st.lists(st.tuples(SETS, st.integers(0, 70_000))))
def test_each_test_is_counted_as_often_as_its_sets_were_added(
    added: list[tuple[set[int], int]],
) -> None:
    tally, expected = test_sets.CountedTests(), Counter[int]()
    for tests, times in added:
        tally.add(test_sets.mask_of(tests), times)
        expected.update(dict.fromkeys(tests, times))

    for most in (0, 1, 700, 5_002):
        assert list(tally.counts(most)) == [expected[test] for test in range(most)]
    for tests, _ in added:
        assert tally.total(test_sets.mask_of(tests)) == sum(expected[test] for test in tests)
