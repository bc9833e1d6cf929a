# SPDX-License-Identifier: Apache-2.0
"""Which merges the job of this command announces: one per product whose suite a merge starts (spec,
"CI report endpoints", rule 4; semantics, 1.8). A job that is not of a merge announces nothing
unless a person sets the commit. A job of a branch that is no merge branch announces nothing if a
person set the merge branches, or if it is unknown what started the job.
"""

from collections.abc import Sequence
from datetime import datetime

from pydantic import ValidationError

from hwci.ci.detect import PEOPLE
from hwci.ci.git.changes import PUSH_FIX, FilesUnknownError, Push, touched
from hwci.ci.job import DEFAULT, Job
from hwci.ci.reporting import bodies, clock
from hwci.ci.reporting.bodies import OF_MERGE, missing_error
from hwci.ci.reporting.context import CommandContext, JobContext, JobFlags, job_context
from hwci.ci.reporting.run import Done, Sending
from hwci.client._call import written
from hwci.client.delivery.sending import deliver
from hwci.contract.vocabulary import Trigger
from hwci.wire.reports import MergeAnnouncement

ONLY_THE_LAST = (
    "The commits of the push are not known: only the files that its last one, a merge, changed are "
    "checked, and no commit that was pushed with it"
)


def announce_merges(
    flags: JobFlags, body: str | None, sending: Sending, command: CommandContext
) -> Done:
    """Announce the merges of this job, or that of a whole body in a file.

    Raises:
        ExplainedError: wrong usage: a field is missing or breaks its rule.
    """
    merges = (
        _announcements(job_context(flags, command).of_a_merge())
        if body is None
        else [bodies.from_file(MergeAnnouncement.model_validate_json, body, beside=flags.given())]
    )
    if sending.to is None or not merges:
        _warn_of_times(merges, None, command)
        return Done(bodies=tuple(written(merge) for merge in merges))
    delivered = deliver(sending.to, merges, sending.deadline_s, command.notify)
    command.show(clock.warning(delivered.server_time, command.clock()))
    _warn_of_times(merges, delivered.server_time, command)
    for announced in merges if delivered.sent else ():
        product = f" for {announced.suite}" if announced.suite else ""
        command.notify(
            f"Announced {announced.sha} of {announced.repo_key}{product} at {sending.to.url}."
        )
    return Done(messages=() if delivered.message is None else (delivered.message,))


def _warn_of_times(
    merges: Sequence[MergeAnnouncement], server_time: datetime | None, command: CommandContext
) -> None:
    """Warn of an improbable time: the merge would count in the wrong period, or in none."""
    for merged_at in {merge.merged_at for merge in merges}:
        times = {"merged_at": merged_at}
        for doubt in clock.doubtful(times, server_time, command.clock()):
            command.warn(f"The time of the merge is doubtful: {doubt}. Set it with --merged-at")


def _announcements(context: JobContext) -> list[MergeAnnouncement]:
    job, command = context.job, context.command
    nothing = _no_merge(job)
    command.warn(*(context.without() if nothing is None else context.unread()))
    if nothing is not None:
        command.notify(f"Nothing is announced: {nothing}.")
        return []
    if (no_git := context.no_git()) is not None and (context.unseen() or _needs_git(context)):
        command.warn(no_git)
    for notice in job.doubts:
        command.warn(str(notice))
    if missing := [name for name in OF_MERGE if name not in job.fields]:
        raise missing_error("announcement", missing)
    names = (*OF_MERGE, "ci_url")
    fields = {name: job.value(name) for name in names if name in job.fields}
    try:
        return [
            MergeAnnouncement.model_validate(fields | ({"suite": suite} if suite else {}))
            for suite in _suites(context)
        ]
    except ValidationError as fault:
        raise bodies.bad_fields(fault, job.fields) from fault


def _needs_git(context: JobContext) -> bool:
    """Return whether only git knows the commit, or the files of the merge."""
    products = context.project.products if context.project else ()
    known = {"sha", "merged_at"} <= set(context.job.fields)
    return not known or any(product.trigger_paths for product in products)


def _no_merge(job: Job) -> str | None:
    """Return why this job is not of a merge; None if it is, or that is unknown."""
    elsewhere = None if job.is_of_a_merge_branch() else _elsewhere(job)
    if elsewhere is not None and "merge_branches" in job.fields:
        return elsewhere
    if _set_by_people(job, "sha"):
        return None
    trigger = job.fields["trigger"]
    if trigger.source == DEFAULT:
        return elsewhere
    if trigger.value is not Trigger.MERGE:
        return (
            f"this job is not of a merge: its trigger is {trigger.value} ({trigger.source}). "
            "If it is, set HWCI_TRIGGER=merge, or name its branch by --merge-branches"
        )
    if job.is_other:
        return "another commit is checked out than was merged; name that: --sha"
    return "a merge queue is only testing this merge" if job.queued else None


def _elsewhere(job: Job) -> str:
    """Return the reason that merges do not go to the branch of this job."""
    into = job.merge_branches
    names = " and ".join(into.value)
    who = (
        f"none is set, so {names} are assumed"
        if into.source == DEFAULT
        else f"merges go to {names} ({into.source})"
    )
    fix = "If it is, name it by --merge-branches (or HWCI_MERGE_BRANCHES)"
    return f"merges do not go to {job.value('branch')}: {who}. {fix}"


def _set_by_people(job: Job, field: str) -> bool:
    return field in job.fields and job.fields[field].source.startswith(PEOPLE)


def _suites(context: JobContext) -> Sequence[str | None]:
    """Return the products that a merge starts; None: any product."""
    if _set_by_people(context.job, "suite"):
        if (notice := context.product_notice()) is not None:
            context.command.warn(f"{notice.what}. {notice.fix}")
        return [context.job.value("suite")]
    if context.project is None or not context.project.products:
        return [None]
    products = [product for product in context.project.products if product.merge_trigger]
    paths = _touched(context) if any(product.trigger_paths for product in products) else ()
    # Every one is started if the files are not known.
    started = [product.suite for product in products if paths is None or product.starts(paths)]
    if not started:
        context.command.notify("Nothing is announced: the merge starts no product of hwci.toml.")
    return started


def _touched(context: JobContext) -> Sequence[str] | None:
    """Return the files of the merge; None, with a note, if unknown."""
    job = context.job
    push = Push(job.before_sha.value if job.before_sha else None, job.pushed_shas, job.batched)
    if context.repository is None:
        why = ""  # the warning about git has the reason
    else:
        try:
            paths = touched(context.repository, job.value("sha"), push)
            if push.before is None and not push.list_to(job.value("sha")):
                context.command.notify(f"note: {ONLY_THE_LAST}. {PUSH_FIX}.")
            return paths
        except FilesUnknownError as fault:
            why = f": {fault}. {fault.fix}".rstrip(". ")
    line = f"The files of the merge are not known, so each product is announced{why}"
    context.command.notify(f"note: {line}.")
    return None
