# SPDX-License-Identifier: Apache-2.0
"""Running a command as its caller would have: on its terminal, with the signals that its caller
sends, and with its exit code (contract, "Command line"). It knows nothing of reports.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

from hwci.cli.failing import CommandError, Failing

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_BY_SIGNAL = 128
_Handler = Callable[[int, FrameType | None], None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `code`: as a shell gives it, 128 and more by a signal; `cancelled`:
    somebody wanted it to end.
    """

    code: int
    cancelled: bool


def run(command: Sequence[str]) -> Ended:
    """Run a command to its end, and hand it the signals that come meanwhile.

    With a terminal it stays among the terminal's own, which sends Ctrl-C to all of them; without
    one, its whole process group gets what is sent to this process. After a command that was
    cancelled this process heeds no further signal: what is left to do is finished.

    Raises:
        CommandError: it cannot be started.
    """
    attached = sys.stdin is not None and sys.stdin.isatty()
    came: list[int] = []
    started: list[subprocess.Popen[bytes]] = []

    def forward(number: int, _: FrameType | None) -> None:
        came.append(number)
        if started and not (attached and number == signal.SIGINT):
            _send(started[0], number, group=not attached)

    sys.stdout.flush()
    with _handled(forward) as handled:
        try:
            group = None if attached else 0
            started.append(subprocess.Popen(command, process_group=group))  # noqa: S603 - as asked
        except OSError as fault:
            raise CommandError(
                Failing(f"{command[0]} cannot be run", fault.strerror or str(fault), "Check it")
            ) from fault
        for number in tuple(came):  # before there was anybody to hand them to
            _send(started[0], number, group=not attached)
        code = started[0].wait()
        killed = code in {-signal.SIGINT, -signal.SIGTERM}
        cancelled = bool(came) or killed
        if cancelled:
            handled.clear()  # nobody is given the signals back
            _ignore()
    return Ended(_BY_SIGNAL - code if code < 0 else code, cancelled=cancelled)


def _ignore() -> None:
    for number in FORWARDED:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def _handled(handler: _Handler) -> Iterator[dict[int, Any]]:
    """Handle signals while the block runs. It is given who handled them before, and who will."""
    before: dict[int, Any] = {number: signal.signal(number, handler) for number in FORWARDED}
    try:
        yield before
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _send(process: subprocess.Popen[bytes], number: int, *, group: bool) -> None:
    with suppress(ProcessLookupError):
        if group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
