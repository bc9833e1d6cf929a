# SPDX-License-Identifier: Apache-2.0
"""What hypothesis tries does not depend on which tests ran before."""

import importlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, text


def tried() -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []

    @settings(max_examples=200)
    @given(integers(), text())
    def note(number: int, word: str) -> None:
        found.append((number, word))

    note()
    return found


def test_the_same_is_tried_whatever_else_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tried()
    (tmp_path / "loaded_meanwhile.py").write_text(
        f"NUMBERS = {[10**6 + 7 * number for number in range(500)]}\n"
        f"WORDS = {[f'word {number}' for number in range(500)]}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("loaded_meanwhile")

    assert tried() == before
