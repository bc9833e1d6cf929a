# SPDX-License-Identifier: Apache-2.0
"""Whom a harness blames for a failed test, by what it wrote (spec, "Test item").

This module decides verdicts from messages, by rules as data. A message that nobody has a rule for is
`unknown`: a bench that is blamed wrongly hides a bug, a device that is blamed wrongly invents one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hwci.engine.vocabulary import Verdict


@dataclass(frozen=True, slots=True)
class Rule:
    """What matches anywhere in a message means a verdict. `why`: which harness writes it, when."""

    pattern: re.Pattern[str]
    verdict: Verdict
    why: str


def judge(message: str, rules: Sequence[Rule]) -> Verdict:
    """Give the verdict of the first rule that matches, `unknown` when none does."""
    found = (rule.verdict for rule in rules if rule.pattern.search(message))
    return next(found, Verdict.UNKNOWN)
