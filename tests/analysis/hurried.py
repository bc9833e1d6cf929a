# SPDX-License-Identifier: Apache-2.0
"""Recorded runs whose time is over after so many looks at the clock."""

from tests.engine.hurried import Hurried
from tests.support.outcomes import FullRecordedRuns


class HurriedRuns(Hurried, FullRecordedRuns):
    """Recorded runs with time for so many looks at the clock."""
