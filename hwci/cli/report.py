# SPDX-License-Identifier: Apache-2.0
"""`hwci report-run`: report one attempt of a run, one report per box, from a whole body or from
flags and JUnit files (spec, "Run report"). What the files say is decided in `hwci.ci`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hwci.cli import bodies, delivery, options
from hwci.cli.failing import ExitCode, wrong_usage
from hwci.cli.options import BodyFile, Branch, DryRun, RepoKey, Sha, Strict, Suite
from hwci.cli.render import note
from hwci.cli.settings import Flags, resolve
from hwci.cli.tables import counted
from hwci.engine.vocabulary import Outcome, Trigger

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hwci.ci.results import BoxResults, FileResults
    from hwci.wire.reports import RunReport

SUITE_VARIABLE = "HWCI_SUITE"
BOX_VARIABLE = "HWCI_BOX"


class Hello(StrEnum):
    """Whether the connectivity check before the tests reached the hardware."""

    OK = "ok"
    FAILED = "failed"


MoreJunit = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]...", help="More JUnit files, as after --junit."),
]
Junit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[BOX=]FILE", help="JUnit XML, plain or gzipped; repeatable, for each box."
    ),
]
Workflow = Annotated[str | None, typer.Option(help="Name of the CI workflow.")]
RunId = Annotated[int | None, typer.Option(min=0, help="CI run id.")]
RunAttempt = Annotated[int | None, typer.Option(min=1, help="Attempt of the CI run, from 1.")]
TriggerName = Annotated[Trigger | None, typer.Option(help="What started the run.")]
StartedAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Start of the run [earliest time in the JUnit files]."),
]
EndedAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="End of the run [start plus what the tests took]."),
]
Conclusion = Annotated[
    str | None, typer.Option(help="Result as the CI says it [success, or failure].")
]
HelloWord = Annotated[
    Hello | None,
    typer.Option(
        help="Did the connectivity check before the tests pass? Only `failed` says no. [ok]"
    ),
]
Box = Annotated[str | None, typer.Option(help="Box or bench that ran the tests [HWCI_BOX].")]
CoversShas = Annotated[
    list[str] | None,
    typer.Option(metavar="SHA", help="Every commit of the push; repeatable, or a list."),
]
ChangesFile = Annotated[
    str | None, typer.Option(metavar="FILE|-", help="The `changes` object as JSON.")
]

HELP = """\
Report one attempt of a run, at its end, whether it passed or failed. Needs HWCI_CI_KEY.

A report of more than 1,000 tests is sent in parts. An unreachable server is a warning, not a
failed build, unless --strict; a file that holds no results is an error, the others are sent.

For example:

\b
  hwci report-run --repo-key acme/firmware --workflow hil --run-id 4711 \\
      --run-attempt 1 --trigger merge --branch main \\
      --sha "$(git rev-parse HEAD)" --box bench-1 --junit results/*.xml

\b
  hwci report-run --repo-key acme/firmware --workflow hil --run-id 4711 \\
      --run-attempt 1 --trigger merge --branch main \\
      --sha "$(git rev-parse HEAD)" \\
      --junit bench-1=one.xml --junit bench-2=two.xml.gz

  hwci report-run --body report.json --strict
"""
"""The explanation of the command: the blocks are kept as they are, so that they can be pasted."""


def report_run(
    *,
    more_junit: MoreJunit = None,
    junit: Junit = None,
    repo_key: RepoKey = None,
    workflow: Workflow = None,
    suite: Suite = None,
    run_id: RunId = None,
    run_attempt: RunAttempt = None,
    trigger: TriggerName = None,
    branch: Branch = None,
    sha: Sha = None,
    started_at: StartedAt = None,
    ended_at: EndedAt = None,
    conclusion: Conclusion = None,
    hello: HelloWord = None,
    box: Box = None,
    covers_shas: CoversShas = None,
    changes: ChangesFile = None,
    body: BodyFile = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Report one attempt of a run; `HELP` explains it to people."""
    fields: dict[str, Any] = {
        "repo_key": repo_key,
        "workflow": workflow,
        "suite": suite,
        "run_id": run_id,
        "run_attempt": run_attempt,
        "trigger": trigger,
        "branch": branch,
        "sha": sha,
        "started_at": started_at,
        "ended_at": ended_at,
        "conclusion": conclusion,
        "hello": hello,
        "box": box,
        "covers_shas": covers_shas,
        "changes": changes,
    }
    files = [*(junit or []), *(more_junit or [])]
    faults: list[str] = []
    if body is None:
        reports = _from_junit(fields, files, faults)
    else:
        from hwci.ci.report import written_reports

        reports = bodies.from_file(written_reports, body, beside={**fields, "junit": files})
    _send(reports, Flags(url, profile), dry_run=dry_run, strict=strict)
    if faults:
        raise typer.Exit(ExitCode.FAILED)


def _send(reports: Sequence[RunReport], flags: Flags, *, dry_run: bool, strict: bool) -> None:
    from hwci.client import calls

    parcels = [delivery.Parcel(_name(report), calls.report_run(report)) for report in reports]
    if dry_run:
        delivery.print_exactly(parcels)
        return
    settings = resolve(flags)
    # A part that was written as such is sent as it is, alone.
    if (parts := sum(report.part_of is not None for report in reports)) > 1:
        note(f"More than 1,000 tests on a box: sending {parts} parts of at most 1,000.")
    if parcels and delivery.deliver(settings, parcels, "The run was not reported", strict=strict):
        note(f"Reported {_summary(reports)} to {settings.url}.")


def _name(report: RunReport) -> str:
    """Name a report among those of its run."""
    part = report.part_of
    return report.box_key if part is None else f"{report.box_key} part {part.part} of {part.parts}"


def _summary(reports: Sequence[RunReport]) -> str:
    """Say what was sent, in one line."""
    tests = [item for report in reports for item in report.tests]
    failed = sum(item.outcome is Outcome.FAIL for item in tests)
    boxes = list(dict.fromkeys(report.box_key for report in reports))
    where = boxes[0] if len(boxes) == 1 else f"{len(boxes)} boxes"
    many = f" in {len(reports)} reports" if len(reports) > 1 else ""
    return f"{counted(len(tests), 'test')} ({failed:,} failed) on {where}{many}{_reached(reports)}"


def _reached(reports: Sequence[RunReport]) -> str:
    """Say whether boxes were not reached or, without tests, may not have been."""
    if not all(report.hello_ok for report in reports):
        return "; hello failed"
    without = any(not report.tests for report in reports)
    return "; hello ok without tests (was a box not reached? --hello failed)" if without else ""


def _from_junit(
    fields: Mapping[str, Any], files: Sequence[str], faults: list[str]
) -> list[RunReport]:
    """Make the reports of a run from flags and result files.

    Raises:
        CommandError: wrong usage.
    """
    from pydantic import ValidationError

    from hwci.ci.report import ReportHead, StartUnknownError, run_reports
    from hwci.wire.errors import issues_of

    placed = _placed(files, fields["box"])
    if not placed and fields["hello"] is None:
        raise wrong_usage(
            "There is nothing to report",
            "neither --junit nor --body is given",
            "Give result files, or --hello failed for a run that never reached the hardware",
        )
    head = _head(fields)
    boxes = _read(placed, faults) if placed else _no_results(fields["box"])
    head.setdefault("conclusion", _conclusion(boxes.values(), faults))
    try:
        return run_reports(ReportHead(**head), boxes)
    except StartUnknownError as fault:
        raise wrong_usage("The report lacks its start", str(fault), "Add --started-at") from fault
    except ValidationError as fault:
        raise bodies.bad_flags(issues_of(fault, "flags")) from fault


# Flags whose fields the spec requires and that nothing else can tell.
_REQUIRED = ("repo_key", "workflow", "run_id", "run_attempt", "trigger", "branch", "sha")


def _head(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the flags say of all boxes.

    Raises:
        CommandError: wrong usage: one is missing, or cannot be read.
    """
    missing = [options.flag_of(name) for name in _REQUIRED if fields[name] is None]
    if missing:
        raise wrong_usage(
            "The report lacks what only you can say",
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            "Add it; see hwci report-run --help",
        )
    said = {name: fields[name] for name in _REQUIRED}
    hello: Hello | None = fields["hello"]
    said |= {
        "suite": fields["suite"] or bodies.variable(SUITE_VARIABLE),
        "conclusion": fields["conclusion"],
        "started_at": options.time_of(fields["started_at"], "--started-at"),
        "ended_at": options.time_of(fields["ended_at"], "--ended-at"),
        "hello_ok": None if hello is None else hello is Hello.OK,
        "covers_shas": _listed(fields["covers_shas"]),
        "changes": _changes(fields["changes"]),
    }
    return {name: value for name, value in said.items() if value is not None}


def _listed(texts: Sequence[str] | None) -> list[str] | None:
    """Take a list as `git rev-list` prints it, too."""
    return [sha for text in texts or () for sha in re.split(r"[\s,]+", text) if sha] or None


def _changes(path: str | None) -> object:
    if path is None:
        return None
    from hwci.wire.reports import Changes

    return bodies.from_file(Changes.model_validate_json, path, beside={})


def _placed(files: Sequence[str], box: str | None) -> list[tuple[str, Path]]:
    """Give each file with its box: `BOX=FILE`, or `FILE` of `--box`.

    Raises:
        CommandError: wrong usage: a file of no box.
    """
    placed = []
    own = box or bodies.variable(BOX_VARIABLE)
    for text in files:
        name, equals, path = text.partition("=")
        if equals and not Path(text).exists():
            placed.append((name, Path(path)))
        elif own is not None:
            placed.append((own, Path(text)))
        else:
            raise _no_box(text)
    return placed


def _no_box(what: str) -> Exception:
    return wrong_usage(
        "The report lacks its box",
        f"nothing says which box {what} is of",
        "Add --box (or HWCI_BOX), or write --junit BOX=FILE",
    )


def _no_results(box: str | None) -> dict[str, BoxResults]:
    from hwci.ci.results import BoxResults

    own = box or bodies.variable(BOX_VARIABLE)
    if own is None:
        raise _no_box("this run")
    return {own: BoxResults()}


def _read(placed: Sequence[tuple[str, Path]], faults: list[str]) -> dict[str, BoxResults]:
    """Read every file; one that holds no results is named, and the others count."""
    from hwci.ci.junit import JunitFileError, read_junit
    from hwci.ci.results import merged

    by_box: dict[str, list[FileResults]] = {}
    for box, path in placed:
        try:
            by_box.setdefault(box, []).append(read_junit(path))
        except JunitFileError as fault:
            faults.append(str(fault))
            note(f"error: {fault}")
    # A box of broken files only says nothing: an empty report would say that nothing ran.
    return {box: merged(files) for box, files in by_box.items() if files}


def _conclusion(boxes: Collection[BoxResults], faults: Sequence[str]) -> str:
    failed = faults or any(results.failed or not results.tests for results in boxes)
    return "failure" if failed else "success"
