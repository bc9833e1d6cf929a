# SPDX-License-Identifier: Apache-2.0
"""The connectivity check before the tests: a command of the user's, whose exit status says whether
the hardware was reached, or a word (spec, "Run report").
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hwci.cli.reporting.child import Ended, Signals
from hwci.cli.terminal.options import said
from hwci.cli.terminal.render import note
from hwci.client.explained import ExitCode, wrong_usage

if TYPE_CHECKING:
    from hwci.ci.job import Job


NO_CHECK = (ExitCode.NOT_EXECUTABLE, ExitCode.NOT_FOUND)
"""A mistyped check blames no bench."""


def check(command: str, signals: Signals) -> Ended:
    """Run the check in the shell, and say so when it failed. What it prints goes to stderr: stdout
    is for data. One that took a signal calmly was cut short all the same, and did not pass.
    """
    ended = signals.run(("/bin/sh", "-c", command), stdout=2)
    if ended.cancelled:
        return replace(ended, code=ended.code or ExitCode.FAILED)
    if answer(ended) is None:
        note(
            f"warning: The hello command could not be run (status {ended.code}), so it does not "
            "tell whether the box was reached. Correct --hello-cmd."
        )
    elif ended.code != 0:
        note(f"The hello command failed with status {ended.code}: the box was not reached.")
    return ended


def answer(ended: Ended) -> bool | None:
    """Give what a check that came to its end tells; None: the shell found no check to run."""
    return None if ended.code in NO_CHECK else ended.code == 0


def word(text: str | None) -> bool | None:
    """Read what --hello says; None: it does not tell.

    Raises:
        ExplainedError: wrong usage: it is no such word.
    """
    from hwci.ci.fields import hello

    if said(text, "--hello") is None or text is None:
        return None
    try:
        told = hello(text)
    except ValueError as fault:
        raise wrong_usage(
            "--hello is not understood", f"{text!r}: {fault}", "Correct --hello"
        ) from fault
    if told is None:
        _doubt("--hello", text)
    return told


def doubt(job: Job) -> None:
    """Say that the variable has a word that does not tell, where nobody else does."""
    text = job.environ.get("HWCI_HELLO", "").strip()
    if text and "hello_ok" not in job.fields:
        _doubt("HWCI_HELLO", text)


def _doubt(who: str, text: str) -> None:
    note(f"note: {who} is {text}, which does not tell whether the hardware was reached.")
