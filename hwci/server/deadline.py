# SPDX-License-Identifier: Apache-2.0
"""The time that a request has for its data, waiting and work together (contract, "Everywhere").

This module decides when that time is over: after a number of seconds, or when the caller has left.
A part of the request may have to end before. It does not know what the request does.
"""

from time import monotonic

from hwci.engine.history import OutOfTimeError

ANSWER_SECONDS = 9.0
"""How long a request may wait for the database and run, so that its caller has an answer within the
promised ten seconds, also from a busy server.
"""


class TakesLongError(Exception):
    """A read takes longer than a short one may (`storage/reading.py`)."""


class Deadline:
    """The end of a request's time."""

    def __init__(self, seconds: float) -> None:
        self._at = monotonic() + seconds
        self._given_up = False

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._at - monotonic())

    @property
    def left_of_all(self) -> float:
        """The seconds that are left of the request."""
        return self.left

    def give_up(self) -> None:
        """End the time now, because the caller has left."""
        self._given_up = True

    def check_time(self) -> None:
        """Raise `OutOfTimeError` once it is over."""
        if self._given_up or monotonic() > self._at:
            raise OutOfTimeError


class Part(Deadline):
    """A part of the work before a deadline, with fewer seconds."""

    def __init__(self, whole: Deadline, seconds: float) -> None:
        super().__init__(min(seconds, whole.left))
        self._whole = whole

    @property
    def left_of_all(self) -> float:
        """The seconds that are left of the request."""
        return self._whole.left_of_all

    def check_time(self) -> None:
        """Raise `OutOfTimeError` once it is over, or the whole is."""
        self._whole.check_time()
        super().check_time()
