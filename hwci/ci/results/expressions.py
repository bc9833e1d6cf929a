# SPDX-License-Identifier: Apache-2.0
"""Regular expressions that somebody else wrote, tried on messages that a device wrote: a try that
does not end is cut.

Python cannot end a match from outside while it holds the interpreter, so each is tried in a process
beside this one, which is begun with the first message and ended when it takes too long. What an
expression decides, this module does not know.
"""

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

TRY_SECONDS = 5.0
"""One expression may look at one message for this long, a thousand times what it should take."""

_PROGRAM = """
import json, re, signal, sys
alarm = getattr(signal, "alarm", lambda seconds: None)
patterns = [re.compile(one) for one in json.loads(sys.stdin.readline())]
print(flush=True)
for line in sys.stdin:
    number, message = json.loads(line)
    alarm(60)
    print("yes" if patterns[number].search(message) else "no", flush=True)
    alarm(0)
"""
"""The alarm ends it where the process that asked was killed meanwhile."""
START_SECONDS = 60.0
"""The process begins within this, on however busy a bench."""


class EndlessError(Exception):
    """A try did not end in time, or the process that made it died."""


class Expressions:
    """Expressions that are tried apart, by their number. Ends the process when it is closed."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = list(patterns)
        self._process: subprocess.Popen[str] | None = None
        self._listener: threading.Thread | None = None
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def match(self, number: int, message: str) -> bool:
        """Return whether an expression matches anywhere in a message. Raises `EndlessError`."""
        if self._process is None:
            self._begin()
        return self._answer(json.dumps([number, message]), TRY_SECONDS) == "yes"

    def _begin(self) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this Python, and a program of ours
                [sys.executable, "-I", "-S", "-c", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="ascii",
                start_new_session=True,  # Ctrl+C is for this process, which still reports
            )
        except OSError as fault:
            raise EndlessError from fault
        self._answers = queue.SimpleQueue()
        listened = (self._process, self._answers)
        self._listener = threading.Thread(target=_listen, args=listened, daemon=True)
        self._listener.start()
        self._answer(json.dumps(self._patterns), START_SECONDS)

    def _answer(self, question: str, seconds: float) -> str:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{question}\n")
            self._process.stdin.flush()
            answer = self._answers.get(timeout=seconds)
        except (OSError, queue.Empty) as fault:
            self._end()
            raise EndlessError from fault
        if not answer:
            self._end()
            raise EndlessError
        return answer.rstrip("\n")

    def _end(self) -> None:
        if self._process is None or self._listener is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.wait()
        self._listener.join()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # what was not sent yet is sent to nobody
                assert pipe is not None
                pipe.close()


def _listen(process: "subprocess.Popen[str]", answers: "queue.SimpleQueue[str]") -> None:
    """Hand on each line that a process prints, and an empty one when it ends."""
    assert process.stdout is not None
    for line in process.stdout:
        answers.put(line)
    answers.put("")
