# SPDX-License-Identifier: Apache-2.0
"""`hwci merge-announce`: announce a merge from a job that needs no hardware (spec, "CI report
endpoints", rule 4).
"""

from typing import Annotated

import typer

from hwci.cli import bodies, delivery, options
from hwci.cli.options import BodyFile, Branch, DryRun, RepoKey, Sha, Strict, Suite
from hwci.cli.render import note
from hwci.cli.settings import Flags, resolve


def merge_announce(
    *,
    repo_key: RepoKey = None,
    suite: Suite = None,
    sha: Sha = None,
    branch: Branch = None,
    merged_at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time of the merge, with an offset."),
    ] = None,
    body: BodyFile = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Announce a merge, so that it counts even when no bench is online. Needs HWCI_CI_KEY.

    Without --suite, a run of any product can check the merge. An unreachable server is a warning,
    not a failed build, unless --strict.

    For example:

    \b
      hwci merge-announce --repo-key acme/firmware --suite sensor-fw \\
          --branch main --sha "$(git rev-parse HEAD)" \\
          --merged-at "$(date -u +%Y-%m-%dT%H:%M:%SZ)"

      hwci merge-announce --body announcement.json --dry-run
    """  # noqa: D301 - the block is kept as it is, so that it can be pasted
    from hwci.client import calls
    from hwci.wire.reports import MergeAnnouncement

    fields = {
        "repo_key": repo_key,
        "suite": suite,
        "sha": sha,
        "branch": branch,
        "merged_at": merged_at,
    }
    announcement = (
        bodies.from_flags(
            MergeAnnouncement, {**fields, "suite": suite or bodies.variable("HWCI_SUITE")}
        )
        if body is None
        else bodies.from_file(MergeAnnouncement.model_validate_json, body, beside=fields)
    )
    parcel = delivery.Parcel(announcement.sha, calls.announce_merge(announcement))
    if dry_run:
        delivery.print_exactly([parcel])
        return
    settings = resolve(Flags(url, profile))
    if delivery.deliver(settings, [parcel], "The merge was not announced", strict=strict):
        note(f"Announced {announcement.sha} of {announcement.repo_key} at {settings.url}.")
