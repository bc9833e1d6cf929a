# SPDX-License-Identifier: Apache-2.0
"""The words of --hello and HWCI_HELLO (spec, "Run report")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli.terminal.options import said
from hwci.cli.terminal.render import note
from hwci.client.explained import wrong_usage

if TYPE_CHECKING:
    from hwci.ci.job import Job


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
