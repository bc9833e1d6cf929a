# SPDX-License-Identifier: Apache-2.0
"""`hwci merge-announce`: announce a merge from a job that needs no hardware (spec, "CI report
endpoints", rule 4). Which merges are announced is decided in `merge.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.reporting import bodies, clock_check, delivery
from hwci.cli.reporting.job import JobFlags
from hwci.cli.reporting.merge import announcements
from hwci.cli.reporting.run_sending import Sending
from hwci.cli.session.settings import Flags, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.options import (
    BeforeSha,
    BodyFile,
    Branch,
    DryRun,
    MergeBranches,
    RepoKey,
    Sha,
    Strict,
    Suite,
)
from hwci.cli.terminal.render import note

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hwci.wire.reports import MergeAnnouncement


MergedAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Time of the merge, with an offset [the CI's, or git's]."),
]

HELP = """\
Announce a merge, so that it counts even when no bench is online. Needs HWCI_CI_KEY.

What a flag does not say comes from HWCI_* variables, the CI system and git. Without --suite, each
product of hwci.toml is announced whose trigger_paths the merge touched; without hwci.toml, a run of
any product can check the merge. An unreachable server is a warning, not a failed build, unless
--strict.

For example:

  hwci merge-announce

\b
  hwci merge-announce --repo-key acme/firmware --suite sensor-fw \\
      --branch main --sha "$(git rev-parse HEAD)" \\
      --merged-at "$(date -u +%Y-%m-%dT%H:%M:%SZ)"

  hwci merge-announce --body announcement.json --dry-run
"""
"""The explanation of the command: the block is kept as it is, so that it can be pasted."""

NOT_ANNOUNCED = "The merge was not announced"


def merge_announce(
    *,
    repo_key: RepoKey = None,
    suite: Suite = None,
    sha: Sha = None,
    branch: Branch = None,
    merged_at: MergedAt = None,
    before_sha: BeforeSha = None,
    merge_branches: MergeBranches = None,
    body: BodyFile = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    deadline: options.Deadline = options.DEADLINE_S,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Announce a merge; `HELP` explains it to people."""
    from hwci.wire.reports import MergeAnnouncement

    flags = JobFlags(
        repo_key=repo_key,
        suite=suite,
        sha=sha,
        branch=branch,
        merged_at=options.time_of(merged_at, "--merged-at"),
        before_sha=before_sha,
        merge_branches=options.list_of(merge_branches),
    )
    announced = (
        announcements(flags)
        if body is None
        else [bodies.from_file(MergeAnnouncement.model_validate_json, body, beside=flags.told())]
    )
    _announce(announced, Sending(Flags(url, profile), dry_run, strict, deadline_s=deadline))


def _announce(announced: Sequence[MergeAnnouncement], sending: Sending) -> None:
    from hwci.client import calls

    parcels = [
        delivery.Parcel(item.suite or item.sha, calls.announce_merge(item)) for item in announced
    ]
    if sending.dry_run or not parcels:
        delivery.print_exactly(parcels)
        _warn_of_times(announced, None)
        return
    settings = resolve(sending.flags)
    delivered = delivery.deliver(settings, parcels, NOT_ANNOUNCED, sending.deadline_s)
    _warn_of_times(announced, delivered.server_time)
    delivered.say(strict=sending.strict)
    if delivered.sent:
        for item in announced:
            product = f" for {item.suite}" if item.suite else ""
            note(f"Announced {item.sha} of {item.repo_key}{product} at {settings.url}.")


def _warn_of_times(announced: Sequence[MergeAnnouncement], server_time: datetime | None) -> None:
    """Say that a time can hardly be: such a merge stands on no page, or on another's."""
    for merged_at in {item.merged_at for item in announced}:
        for fault in clock_check.doubtful({"merged_at": merged_at}, server_time):
            note(f"warning: The time of the merge is doubtful: {fault}. Say it by --merged-at.")
