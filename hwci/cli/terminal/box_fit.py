# SPDX-License-Identifier: Apache-2.0
"""Whether a box is fit, as lines: the answer, and each reason. It decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hwci.contract.boxes.fit import Fitness

_WORDS = {True: "ok", False: "not ok", None: "too little to tell"}


def lines(answer: Fitness) -> Iterator[str]:
    """Return the lines of the answer."""
    yield f"{answer.box_key} is {'fit' if answer.fit else 'not fit'}"
    for check in answer.checks:
        yield f"  {check.check}: {_WORDS[check.met]}. {check.says}."
