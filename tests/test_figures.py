# SPDX-License-Identifier: Apache-2.0
"""The figures of the house stay within their limits (`python -m tests.figures` prints them)."""

from tests.figures import in_both_languages, modules


def test_no_sentence_is_written_in_both_languages() -> None:
    """What terminal and page both say stands in `hwci/contract/words.py`."""
    assert in_both_languages(modules()) == set()
