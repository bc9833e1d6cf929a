# SPDX-License-Identifier: Apache-2.0
"""The fields that a report cannot do without, and how to set those that are missing: one rule and
one wording for all commands (contract, "Command line").
"""

from collections.abc import Iterator, Mapping, Sequence

from hwci.ci.fields import BY_NAME
from hwci.ci.job import Job
from hwci.client.explained import ExitCode, ExplainedError, command_error
from hwci.wire.base import CiBody
from hwci.wire.reports import MergeAnnouncement, RunReport

OF_RESULTS = ("started_at", "ended_at", "conclusion", "hello_ok", "tests")
"""What result files set if nothing else does."""


def _required(model: type[CiBody]) -> tuple[str, ...]:
    return tuple(name for name, field in model.model_fields.items() if field.is_required())


OF_RUN = _required(RunReport)
"""What the report of a run needs, in the order of the spec."""
OF_MERGE = _required(MergeAnnouncement)
"""What an announcement needs, in the order of the spec."""
_OF_JOB: Mapping[str, Sequence[str]] = {
    "report-run": tuple(name for name in OF_RUN if name not in OF_RESULTS),
    "merge-announce": OF_MERGE,
}


def missing_fields(job: Job) -> dict[str, list[str]]:
    """Return each missing field that only the job can set, with the commands that need it."""
    names = dict.fromkeys(name for needed in _OF_JOB.values() for name in needed)
    return {
        name: [command for command, needed in _OF_JOB.items() if name in needed]
        for name in names
        if name not in job.fields
    }


def way(name: str) -> str:
    """Return how to set a field."""
    return f"{BY_NAME[name].flag} (or {BY_NAME[name].variable})"


def missing_error(report: str, missing: Sequence[str], *, shown: bool = False) -> ExplainedError:
    """Return the error of a report that lacks fields. `shown`: the rest of it is printed."""
    return command_error(
        f"The {report} lacks fields that only you can set",
        f"missing: {', '.join(missing)}" + ("; what is known is printed above" if shown else ""),
        "Add what is named above; hwci env shows where the rest comes from",
        ExitCode.USAGE,
        tuple(_ways(missing)),
    )


def _ways(missing: Sequence[str]) -> Iterator[str]:
    for name in missing:
        if name == "tests":
            others = ", ".join(OF_RESULTS[:-1])
            yield f"tests: --junit FILE, which also has {others}; or --hello failed, or --body"
        else:
            beside = ", or --junit BOX=FILE" if name == "box_key" else ""
            yield f"{name}: {way(name)}{beside}"
