# SPDX-License-Identifier: Apache-2.0
"""A report of more than 1,000 tests is sent in parts (semantics, 1.9)."""

import hashlib

import pytest

from hwci.ci.reporting.report import in_parts, part_run_id


@pytest.mark.parametrize("size", [0, 1, 1_000])
def test_a_report_of_at_most_1000_tests_is_sent_plain(size: int) -> None:
    parts = in_parts(7, range(size))

    assert [(part.run_id, len(part.tests), part.part_of) for part in parts] == [(7, size, None)]


def test_a_larger_one_is_cut_in_file_order() -> None:
    parts = in_parts(7, range(2_001))

    assert [len(part.tests) for part in parts] == [1_000, 1_000, 1]
    assert [test for part in parts for test in part.tests] == list(range(2_001))
    assert [
        (part.part_of.run_id, part.part_of.part, part.part_of.parts)
        for part in parts
        if part.part_of is not None
    ] == [(7, 1, 3), (7, 2, 3), (7, 3, 3)]


def test_part_1_keeps_the_run_id_and_part_k_has_53_bits_of_the_hash_of_both() -> None:
    text_2 = hashlib.sha256(b"123456/2").hexdigest()

    assert part_run_id(123456, 1) == 123456
    assert f"{part_run_id(123456, 2):053b}" == f"{int(text_2, 16):0256b}"[:53]


def test_a_run_id_of_a_part_is_the_same_each_time_it_is_sent() -> None:
    assert part_run_id(123456, 2) == 1760994302157460
