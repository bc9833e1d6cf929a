# SPDX-License-Identifier: Apache-2.0
"""The page that teaches the model shows what the engine answers."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "model.md"


def test_the_example_of_the_model_runs_as_it_stands_there() -> None:
    done = doctest.testfile(str(PAGE), module_relative=False)

    assert done.failed == 0
    assert done.attempted > 15
