# SPDX-License-Identifier: Apache-2.0
"""The rows of flaky tests as they are shown: with the interval of their rate alone, with the answer
in few words, or with all that their runs suggest. No figure is computed here.
"""

from collections.abc import Mapping

from hwci.analysis.flaky.suspect_words import of_suspect
from hwci.analysis.flaky.suspects import Suspect, bisected
from hwci.analysis.statement_words import answer
from hwci.analysis.statements import known_of_row
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.flaky.suspects import AnsweredTest, BoxFlakeRate, RatedTest, SuspectedTest
from hwci.contract.shares import Share


def rated(test: FlakyTest, rate: Share) -> RatedTest:
    """Return a test with the interval of its rate."""
    low, high = (None if end is None else 100 * end for end in (rate.low, rate.high))
    return RatedTest(**vars(test), low=low, high=high)


def answered(row: Suspect) -> AnsweredTest:
    """Return a test with its answer in few words."""
    words = answer(known_of_row(row))
    return AnsweredTest(
        **vars(rated(row.test, row.rate)),
        answer=words.few_words,
        answer_box=words.box,
        statement=words.statement,
    )


def whole(row: Suspect, on_boxes: Mapping[str, Share]) -> SuspectedTest:
    """Return a test with all that its runs suggest. `on_boxes`: its rate on each."""
    test = answered(row)
    return SuspectedTest(
        **vars(test),
        on_boxes=tuple(
            BoxFlakeRate(box_key=box, flake_rate=rate) for box, rate in on_boxes.items()
        ),
        text=of_suspect(row, test.statement.claim),
        found=None if row.found is None else bisected(row.found),
        missing=row.missing,
    )
