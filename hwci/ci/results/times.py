# SPDX-License-Identifier: Apache-2.0
"""Times and durations as test runners write them; what is none counts as not said."""

from contextlib import suppress
from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator

from hwci.wire.base import parse_time

LONGEST_S = 366 * 86_400
"""What a file says that took longer was measured by no clock."""


def seconds(text: str) -> float:
    """Read `1,234.5`; what is no such number, or below zero as after a clock was set, is 0, and so
    is what no test can take.
    """
    try:
        read = float(text.replace(",", ""))
    except ValueError:
        return 0.0
    return read if 0 <= read <= LONGEST_S else 0.0


Seconds = Annotated[float, BeforeValidator(lambda said: seconds(str(said)))]
"""A duration in JSON, written as a number or as text."""


def moment(text: str) -> datetime | None:
    """Read a time; one without offset is UTC."""
    for written in (text, f"{text}Z"):
        with suppress(ValueError):
            return parse_time(written.strip().replace(" ", "T", 1))
    return None
