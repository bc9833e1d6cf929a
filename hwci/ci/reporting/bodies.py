# SPDX-License-Identifier: Apache-2.0
"""Bodies that are checked before they are sent, from fields or from a file: which fields are
missing, which break their rules, and how to set them (contract, "Command line").
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from hwci.ci.fields import BY_NAME
from hwci.ci.job import Job, Sourced
from hwci.client.explained import (
    ExitCode,
    ExplainedError,
    command_error,
    fault_lines,
    not_empty,
    wrong_usage,
)
from hwci.client.files import read_bytes
from hwci.wire.base import CiBody
from hwci.wire.errors import issues_of
from hwci.wire.reports import MergeAnnouncement, RunReport

Read = TypeVar("Read")


def flag_of(field: str) -> str:
    """Return the flag that sets a field of a body."""
    if field in BY_NAME:
        return BY_NAME[field].flag
    return "--junit" if field == "tests" else f"--{field.replace('_', '-')}"


def bad_fields(fault: ValidationError, sources: Mapping[str, Sourced[Any]]) -> ExplainedError:
    """Return the error of fields that break their rules, each with where it comes from."""
    issues = issues_of(fault, "fields")
    lines = [f"{_source(issue.path[1:], sources)}: {issue.message}" for issue in issues]
    return wrong_usage(
        "The fields are not a valid report",
        "; ".join(lines),
        "Correct what is named; hwci env shows where each field comes from",
    )


def _source(path: Sequence[str | int], sources: Mapping[str, Sourced[Any]]) -> str:
    """Return where the field at fault comes from, the flag for it, and the place within it."""
    name = str(path[0])
    flag, by = flag_of(name), sources[name].source if name in sources else None
    beside = [f"or set {flag}"] if by not in {None, flag} else []
    beside += [".".join(map(str, path))] if len(path) > 1 else []
    return f"{by or flag} ({', '.join(beside)})" if beside else by or flag


def from_file(read: Callable[[bytes], Read], path: str, beside: Mapping[str, object]) -> Read:
    """Read a whole body from a file, or from stdin for `-`. `read` parses it; `beside`: the flags
    of fields, which exclude it.

    Raises:
        ExplainedError: wrong usage: it cannot be read, or breaks the field rules, as a flag may.
    """
    doubled = [name for name, value in beside.items() if value not in (None, [], False)]
    if doubled:
        raise wrong_usage(
            "--body is the whole body",
            f"{flag_of(doubled[0])} is set as well",
            "Leave one of them out",
        )
    not_empty(path, "--body")
    try:
        return read(read_bytes(path))
    except ValidationError as fault:
        raise command_error(
            f"The body in {path} breaks the field rules",
            "nothing was sent",
            "Correct what is named above",
            ExitCode.USAGE,
            details=tuple(fault_lines(issues_of(fault, "body"))),
        ) from fault


# Required fields: one rule and one wording for all commands

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
        "Add what is named above, or run hwci init; hwci env shows the sources",
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
