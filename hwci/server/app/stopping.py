# SPDX-License-Identifier: Apache-2.0
"""How a process is told to stop, and that it does: SIGINT or SIGTERM once, and it has so many
seconds; twice, and it ends at once. What is acknowledged is on the disk by then, either way.
"""

import asyncio
import logging
import os
import signal
import threading

LOG = logging.getLogger("hwci.server")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOP_SECONDS = 9.0
"""Leaving in order takes less (`http/protocol.py`), unless a thread is in something endless."""


class Stop:
    """The end of one process. `drain_seconds`: how long it listens after it was told."""

    def __init__(self, drain_seconds: float) -> None:
        self.told = asyncio.Event()
        self._last_resort = threading.Timer(drain_seconds + STOP_SECONDS, _end)
        self._last_resort.daemon = True

    def listen(self) -> None:
        """From now on, being told sets `told`, and the process stops in time."""
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._tell)

    def done(self) -> None:
        """All has ended by itself."""
        self._last_resort.cancel()

    def _tell(self) -> None:
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        self._last_resort.start()
        self.told.set()


def _end() -> None:
    LOG.error("The server stops with work that did not end in time; nothing acknowledged is lost")
    os._exit(0)  # threads that do not end would be waited for
