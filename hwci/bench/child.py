# SPDX-License-Identifier: Apache-2.0
"""Child processes of `hwci exec`: they run on the caller's terminal, get the signals that are sent
to this process, and keep their exit codes (contract, "Command line").
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

from hwci.client.explained import ExitCode, ExplainedError, SignalledError, command_error

FORWARDED = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")
    if hasattr(signal, name)  # Windows has not all
)
BY_SIGNAL = 128
"""A shell adds the number of the signal that ended a command."""
_YEARS_S = 1e9
"""A wait with a timeout polls. A wait without one is a single system call, so that a signal just
before it would be handled only when the command has ended.
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `code`: as in a shell, 128 and more for a signal; `cancelled`: it was
    asked to end.
    """

    code: int
    cancelled: bool


class Signals:
    """The signals sent to this process. The running command gets them; without one they wait until
    `obeying`.
    """

    def __init__(self) -> None:
        self.ignored = False
        self._may_end = False
        self._cancelled = False
        self._waiting: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._attached = sys.stdin is not None and sys.stdin.isatty()

    def run(self, command: Sequence[str], stdout: int | None = None) -> Ended:
        """Run a command to its end, and forward the signals that come meanwhile.

        With a terminal it stays in the terminal's process group, which gets Ctrl-C as a whole;
        without one, the signals go to a process group of its own. After a cancelled command this
        process ignores further signals, so that the rest of the work is finished.

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
        while self._waiting:  # they came before the command ran
            self._forward(process, self._waiting.pop(0))
        code = process.wait(_YEARS_S)
        self._process = None
        if self._cancelled or code in {-signal.SIGINT, -signal.SIGTERM}:
            self._ignore()
        return Ended(BY_SIGNAL - code if code < 0 else code, cancelled=self.ignored)

    def handle(self, number: int, _: FrameType | None) -> None:
        """Handle a signal."""
        if self._process is None:
            self._waiting.append(number)
            self._end_if_any()
            return
        self._cancelled = True
        if not (self._attached and number == signal.SIGINT):  # that, the terminal sends to all
            self._forward(self._process, number)

    @property
    def meanwhile(self) -> int | None:
        """The first signal since the last command. It ends this process, at the latest when all is
        done.
        """
        return self._waiting[0] if self._waiting else None

    @contextmanager
    def obeying(self) -> Iterator[None]:
        """End the block at the first signal since the last command.

        Raises:
            SignalledError: one came before the block, or comes anywhere in it.
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

    def _forward(self, process: "subprocess.Popen[bytes]", number: int) -> None:
        self._cancelled = True
        with suppress(ProcessLookupError):
            if self._attached or not hasattr(os, "killpg"):
                process.send_signal(number)
            else:
                os.killpg(process.pid, number)

    def _ignore(self) -> None:
        self.ignored = True
        for number in FORWARDED:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def signals_taken() -> Iterator[Signals]:
    """Handle the signals during the block."""
    signals = Signals()
    before: dict[int, Any] = {number: signal.signal(number, signals.handle) for number in FORWARDED}
    try:
        yield signals
    finally:
        for number, earlier in before.items():
            signal.signal(number, signal.SIG_IGN if signals.ignored else earlier)


def check_executable(name: str) -> None:
    """Check that a command can be run.

    Raises:
        ExplainedError: it does not exist, or is not executable.
    """
    if shutil.which(name) is not None:
        return
    there = os.sep in name and os.access(name, os.F_OK)
    number = errno.EACCES if there else errno.ENOENT
    raise _not_started(name, OSError(number, os.strerror(number)))


def _not_started(name: str, fault: OSError) -> ExplainedError:
    missing = isinstance(fault, FileNotFoundError)
    why = fault.strerror or str(fault)
    fix = "Check it: a script begins with the line #! and its interpreter"
    if missing and os.sep in name:
        fix = "Install it there, or correct the path"
    elif missing:
        why = "The program was not found on PATH"
        fix = "Install it, or add its folder to PATH; that of a virtual environment is its bin"
    return command_error(
        f"{name} cannot be run",
        f"{why}: nothing was tested, and nothing is reported",
        fix,
        ExitCode.NOT_FOUND if missing else ExitCode.NOT_EXECUTABLE,
    )
