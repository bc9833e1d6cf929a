# SPDX-License-Identifier: Apache-2.0
"""A history that has little time."""

from hwci.engine.facts import Facts
from hwci.engine.full_history import FullHistory
from hwci.engine.history import OutOfTimeError
from tests.server.storage.histories import ORG


class Hurried(FullHistory):
    """A history with time for so many looks at the clock."""

    def __init__(self, facts: Facts, looks: int) -> None:
        super().__init__(ORG, facts, self._look)
        self._looks = looks

    def _look(self) -> None:
        self._looks -= 1
        if self._looks < 0:
            raise OutOfTimeError
