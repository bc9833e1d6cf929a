# SPDX-License-Identifier: Apache-2.0
"""What is a commit's hash, whole or short."""

import pytest

from hwci.wire.hashes import is_hash, names_a_commit


@pytest.mark.parametrize("text", ["a" * 7, "0A" * 20, "f" * 64])
def test_a_hash_whole_or_short_names_a_commit(text: str) -> None:
    assert names_a_commit(text)


@pytest.mark.parametrize("text", ["", "HEAD", "a" * 6, "a" * 65, "g" * 40, "a" * 40 + "\n"])
def test_what_a_report_may_not_hold_names_none(text: str) -> None:
    assert not is_hash(text)
    assert not names_a_commit(text)


def test_zeros_are_a_hash_that_names_no_commit() -> None:
    assert is_hash("0" * 40)
    assert not names_a_commit("0" * 40)
