# SPDX-License-Identifier: Apache-2.0
"""Where the page of a CI job shows a summary and warnings, and how each system is told: only by
what it says itself that it takes. What they say is decided in `hwci.ci.reporting.summary`.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hwci.cli.reporting.delivery import Delivered
from hwci.cli.terminal.render import command_line

if TYPE_CHECKING:
    from hwci.ci.job import Job
    from hwci.wire.reports import RunReport

AGENT_SECONDS = 20


@dataclass
class Fate:
    """What became of the reports: the summary says so. `notes`: what people should know of it."""

    notes: list[str]
    delivered: Delivered = field(default_factory=Delivered)


@contextmanager
def of_run(reports: Sequence[RunReport], job: Job | None, notes: Sequence[str]) -> Iterator[Fate]:
    """Leave a summary of reports where the CI of the job shows one, whatever becomes of them."""
    told = Fate(list(notes))
    try:
        yield told
    finally:
        show = _SHOWN_BY.get(job.system or "") if job is not None else None
        if job is not None and show is not None and reports:
            _show(show, job, reports, told)


def _show(show: _Show, job: Job, reports: Sequence[RunReport], told: Fate) -> None:
    from hwci.ci.reporting.summary import Shown, markdown

    shown = Shown(reports, told.delivered.sent, told.notes, kept=told.delivered.kept)
    warnings = list(told.notes)
    if not shown.sent:
        warnings.append(f"The run was {shown.fate()}")
    # A page that cannot be written is no reason to fail a build.
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        show(job.environ, markdown(shown), warnings)


_Show = Callable[[Mapping[str, str], str, Sequence[str]], None]


def _github(environ: Mapping[str, str], text: str, warnings: Sequence[str]) -> None:
    from hwci.ci.reporting.summary import github_warning

    for warning in warnings:
        command_line(github_warning(warning))
    path = environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as page:
            page.write(text)


def _buildkite(environ: Mapping[str, str], text: str, warnings: Sequence[str]) -> None:
    agent = shutil.which("buildkite-agent", path=environ.get("PATH"))
    if agent is None:
        return
    style = "warning" if warnings else "info"
    # One per job: the next would else replace that of the job before.
    context = f"hwci-{environ.get('BUILDKITE_JOB_ID', '')}"
    subprocess.run(  # noqa: S603 - no shell; the text goes through stdin
        [agent, "annotate", "--style", style, "--context", context],
        input=text.encode(errors="replace"),
        stdout=subprocess.DEVNULL,
        timeout=AGENT_SECONDS,
        check=False,
    )


def _azure(environ: Mapping[str, str], text: str, warnings: Sequence[str]) -> None:
    import tempfile

    from hwci.ci.reporting.summary import azure_summary, azure_warning

    for warning in warnings:
        command_line(azure_warning(warning))
    # The agent takes the file when the step has ended, and clears the folder after the job.
    folder = environ.get("AGENT_TEMPDIRECTORY")
    if folder:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=folder, prefix="hwci-", suffix=".md", delete=False
        ) as page:
            page.write(text)
        command_line(azure_summary(page.name))


_SHOWN_BY: Mapping[str, _Show] = {"github": _github, "buildkite": _buildkite, "azure": _azure}
