# SPDX-License-Identifier: Apache-2.0
"""`hwci merge-announce`: announce a merge from a job that needs no hardware (spec, "CI report
endpoints", rule 4). Which merges are announced is decided in `hwci.ci.reporting.merge`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from hwci.cli.session.reporter import command_context, sending, show
from hwci.cli.session.settings import Flags
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
    from hwci.ci import reporting

    flags = reporting.JobFlags(
        repo_key=repo_key,
        suite=suite,
        sha=sha,
        branch=branch,
        merged_at=options.time_of(merged_at, "--merged-at"),
        before_sha=before_sha,
        merge_branches=options.list_of(merge_branches),
    )
    how = sending(Flags(url, profile), deadline, dry_run=dry_run)
    show(reporting.announce_merges(flags, body, how, command_context()), strict=strict)
