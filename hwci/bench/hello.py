# SPDX-License-Identifier: Apache-2.0
"""The hello command: a connectivity check before the tests, whose exit status shows whether the
hardware was reached (spec, "Run report").
"""

from collections.abc import Callable
from dataclasses import replace

from hwci.bench.child import Ended, Signals
from hwci.client.explained import ExitCode

NOT_RUN = (ExitCode.NOT_EXECUTABLE, ExitCode.NOT_FOUND)
"""A mistyped check blames no bench."""


def run_hello(command: str, signals: Signals, notify: Callable[[str], None]) -> Ended:
    """Run the hello command in the shell, its output on stderr, as stdout is for data. One that a
    signal cut short failed, even if it ended with 0.
    """
    ended = signals.run(("/bin/sh", "-c", command), stdout=2)
    if ended.cancelled:
        return replace(ended, code=ended.code or ExitCode.FAILED)
    if reached(ended) is None:
        notify(
            f"warning: The hello command could not be run (status {ended.code}), so it is not "
            "known whether the box was reached. Correct --hello-cmd."
        )
    elif ended.code != 0:
        notify(f"The hello command failed with status {ended.code}: the box was not reached.")
    return ended


def reached(ended: Ended) -> bool | None:
    """Return whether the hardware was reached; None if the shell could not run the command."""
    return None if ended.code in NOT_RUN else ended.code == 0
