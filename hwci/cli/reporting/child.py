# SPDX-License-Identifier: Apache-2.0
"""Running commands as their caller would have: on its terminal, with the signals that this process
is sent, and with their exit codes (contract, "Command line"). It knows nothing of reports.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

from hwci.client.explained import ErrorMessage, ExitCode, ExplainedError, SignalledError

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
BY_SIGNAL = 128
"""A shell adds the number of the signal that ended a command."""
_YEARS_S = 1e9
"""Waiting for so long looks again and again. Waiting without an end is one call into the system: a
signal that comes just before it would be seen only when the command has ended.
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `code`: as a shell gives it, 128 and more by a signal; `cancelled`:
    somebody wanted it to end.
    """

    code: int
    cancelled: bool


class Signals:
    """The signals that come to this process: they are for the command that runs. Without one they
    wait until `obeying`.
    """

    def __init__(self) -> None:
        self.ignored = False
        self._may_end = False
        self._cancelled = False
        self._waiting: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._attached = sys.stdin is not None and sys.stdin.isatty()

    def run(self, command: Sequence[str], stdout: int | None = None) -> Ended:
        """Run a command to its end, and hand it the signals that come meanwhile.

        With a terminal it stays among the terminal's own, which sends Ctrl-C to all of them;
        without one, its whole process group gets what is sent to this process. After a command that
        was cancelled this process heeds no further signal: what is left to do is finished.

        Raises:
            ExplainedError: it cannot be started.
        """
        sys.stdout.flush()
        sys.stderr.flush()
        group = None if self._attached else 0
        try:
            process = subprocess.Popen(command, stdout=stdout, process_group=group)  # noqa: S603 - as asked
        except OSError as fault:
            raise _not_started(command[0], fault) from fault
        self._process = process
        while self._waiting:  # they came before there was anybody to hand them to
            self._hand_on(process, self._waiting.pop(0))
        code = process.wait(_YEARS_S)
        self._process = None
        if self._cancelled or code in {-signal.SIGINT, -signal.SIGTERM}:
            self._ignore()
        return Ended(BY_SIGNAL - code if code < 0 else code, cancelled=self.ignored)

    def came(self, number: int, _: FrameType | None) -> None:
        """Take a signal."""
        if self._process is None:
            self._waiting.append(number)
            self._end_if_any()
            return
        self._cancelled = True
        if not (self._attached and number == signal.SIGINT):  # that, the terminal sends to all
            self._hand_on(self._process, number)

    @property
    def meanwhile(self) -> int | None:
        """The number of the first signal that came since the last command. It ends this process,
        if not sooner, then when all is done.
        """
        return self._waiting[0] if self._waiting else None

    @contextmanager
    def obeying(self) -> Iterator[None]:
        """While the block runs, obey the first signal that came since the last command, or that
        comes.

        Raises:
            SignalledError: it came before; or, anywhere in the block, it comes.
        """
        self._may_end = not self.ignored
        try:
            self._end_if_any()
            yield
        finally:
            self._may_end = False

    def _end_if_any(self) -> None:
        if self._may_end and self._waiting:
            self._may_end = False
            self._ignore()
            raise SignalledError(signal.strsignal(self._waiting[0]))

    def _hand_on(self, process: "subprocess.Popen[bytes]", number: int) -> None:
        self._cancelled = True
        with suppress(ProcessLookupError):
            if self._attached:
                process.send_signal(number)
            else:
                os.killpg(process.pid, number)

    def _ignore(self) -> None:
        self.ignored = True
        for number in FORWARDED:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def signals_taken() -> Iterator[Signals]:
    """Take the signals while the block runs."""
    signals = Signals()
    before: dict[int, Any] = {number: signal.signal(number, signals.came) for number in FORWARDED}
    try:
        yield signals
    finally:
        for number, earlier in before.items():
            signal.signal(number, signal.SIG_IGN if signals.ignored else earlier)


def see_that_it_can_run(name: str) -> None:
    """See it before anything else is begun.

    Raises:
        ExplainedError: there is no such command, or it is none.
    """
    if shutil.which(name) is not None:
        return
    there = os.sep in name and os.access(name, os.F_OK)
    number = errno.EACCES if there else errno.ENOENT
    raise _not_started(name, OSError(number, os.strerror(number)))


def _not_started(name: str, fault: OSError) -> ExplainedError:
    missing = isinstance(fault, FileNotFoundError)
    return ExplainedError(
        ErrorMessage(
            f"{name} cannot be run",
            f"{fault.strerror or fault}: nothing was tested, and nothing is reported",
            "Check it: a script begins with the line #! and its interpreter",
            ExitCode.NOT_FOUND if missing else ExitCode.NOT_EXECUTABLE,
        )
    )
