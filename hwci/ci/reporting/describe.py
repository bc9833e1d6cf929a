# SPDX-License-Identifier: Apache-2.0
"""What a report from here would hold of its job, before one is sent: each field with its source,
what is missing, and what people should know. Nothing is reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hwci.ci.fields import BY_NAME, Field
from hwci.ci.reporting.base import past_runs
from hwci.ci.reporting.context import CommandContext, JobContext, JobFlags, look_around
from hwci.ci.reporting.missing import missing_fields
from hwci.ci.reporting.under_test import base_of
from hwci.ci.sourced import Sourced
from hwci.ci.systems.api import get_json


@dataclass(frozen=True, slots=True)
class JobDescription:
    """A job. `system`: the short name of its CI system, None if unknown; `title`: its name for
    people. `missing`: each field that is not known, with the commands that need it.
    """

    system: str | None
    title: str
    fields: Mapping[str, Sourced[Any]]
    missing: Sequence[tuple[Field, Sequence[str]]]
    faults: Sequence[str]
    notes: Sequence[str]


def describe_job(command: CommandContext) -> JobDescription:
    """Return the description of this job, with since when a report would count changes."""
    context = look_around(JobFlags(), command)
    job = context.job
    base, notes = base_of(job, past_runs(job), get_json)
    fields = {**job.fields, "base_sha": base}
    if (product := job.product()) is not None:
        fields["suite"] = product
    return JobDescription(
        job.system,
        job.title,
        {name: fields[name] for name in BY_NAME if name in fields},
        [(BY_NAME[name], commands) for name, commands in missing_fields(job).items()],
        job.faults,
        (*notes, *_notes(context)),
    )


def _notes(context: JobContext) -> Iterator[str]:
    """Return what stands in no field."""
    yield from context.without()
    if (no_git := context.no_git()) is not None:
        yield f"{no_git}."
    if (changed := context.changed()) is not None:
        yield f"doubtful: sha: {changed.what}. {changed.fix}."
    if (doubt := context.product_doubt()) is not None:
        yield f"doubtful: suite: {doubt.what}. {doubt.fix}"
