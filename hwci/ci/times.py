# SPDX-License-Identifier: Apache-2.0
"""Times and durations as test runners write them; what is none counts as not said."""

import math
from contextlib import suppress
from datetime import datetime

from hwci.wire.base import parse_time


def seconds(text: str) -> float:
    """Read `1,234.5`; what is no such number, or below zero as after a clock was set, is 0."""
    try:
        read = float(text.replace(",", ""))
    except ValueError:
        return 0.0
    return read if 0 <= read < math.inf else 0.0


def moment(text: str) -> datetime | None:
    """Read a time; one without offset is UTC."""
    for written in (text, f"{text}Z"):
        with suppress(ValueError):
            return parse_time(written.strip().replace(" ", "T", 1))
    return None
