# SPDX-License-Identifier: Apache-2.0
"""The figures of the house stay within their limits (`python -m tests.figures` prints them)."""

from tests.figures import in_both_languages, modules, twins, vague


def test_no_sentence_is_written_in_both_languages() -> None:
    """What terminal and page both say stands in `hwci/contract`."""
    assert in_both_languages(modules()) == set()


def test_what_is_bound_has_a_noun() -> None:
    vague_names, names = vague(modules())

    assert vague_names / names <= 0.01


def test_few_shapes_have_a_twin() -> None:
    """Facts that were sent and rows that are kept are values of their own, and most of these name a
    run or a test.
    """
    assert len(twins(modules())) <= 15
