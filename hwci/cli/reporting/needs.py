# SPDX-License-Identifier: Apache-2.0
"""What each report cannot do without, and how to say what nobody tells: one rule and one wording
for all commands (contract, "Command line"). `hwci.ci.detect` decides which source wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.client.explained import ErrorMessage, ExitCode, ExplainedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hwci.ci.job import Job
    from hwci.wire.base import CiBody

OF_RESULTS = ("started_at", "ended_at", "conclusion", "hello_ok", "tests")
"""What result files tell where nobody else does."""


def of_run() -> tuple[str, ...]:
    """Give what the report of a run needs, in the order of the spec."""
    from hwci.wire.reports import RunReport

    return _required(RunReport)


def of_merge() -> tuple[str, ...]:
    """Give what an announcement needs, in the order of the spec."""
    from hwci.wire.reports import MergeAnnouncement

    return _required(MergeAnnouncement)


def _required(model: type[CiBody]) -> tuple[str, ...]:
    return tuple(name for name, field in model.model_fields.items() if field.is_required())


def of_job() -> Mapping[str, Sequence[str]]:
    """Give what each command needs that only its job can tell."""
    run = tuple(name for name in of_run() if name not in OF_RESULTS)
    return {"report-run": run, "merge-announce": of_merge()}


def missing_fields(job: Job) -> dict[str, list[str]]:
    """Give each field that nobody told, with the commands that need it."""
    needed = of_job()
    return {
        name: commands
        for name in dict.fromkeys(name for names in needed.values() for name in names)
        if name not in job.fields
        and (commands := [command for command, names in needed.items() if name in names])
    }


def way(name: str) -> str:
    """Say how to tell a field."""
    from hwci.ci.fields import BY_NAME

    return f"{BY_NAME[name].flag} (or {BY_NAME[name].variable})"


def lacking(report: str, missing: Sequence[str], *, shown: bool = False) -> ExplainedError:
    """Give the error that a report lacks fields. `shown`: the rest of it was printed."""
    return ExplainedError(
        ErrorMessage(
            f"The {report} lacks what only you can say",
            f"nobody tells {', '.join(missing)}"
            + ("; what is known is printed above" if shown else ""),
            "Add what is named above; hwci env shows who told the rest",
            ExitCode.USAGE,
            tuple(_ways(missing)),
        )
    )


def _ways(missing: Sequence[str]) -> Iterator[str]:
    for name in missing:
        if name == "tests":
            told = ", ".join(OF_RESULTS[:-1])
            yield f"tests: --junit FILE, which tells {told}, too; or --hello failed, or --body"
        else:
            beside = ", or --junit BOX=FILE" if name == "box_key" else ""
            yield f"{name}: {way(name)}{beside}"
