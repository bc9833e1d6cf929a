# SPDX-License-Identifier: Apache-2.0
"""What a program asks hwci for: lists, reviews, events, errors and the session of a person."""

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from hwci.client import (
    Client,
    Failure,
    HwciError,
    Label,
    RunEvent,
    Session,
    Trigger,
    errors,
)

AS_OF = datetime(2026, 3, 5, tzinfo=UTC)
NEEDED = ("HWCI_URL", "HWCI_ORG", "HWCI_EMAIL", "HWCI_PASSWORD", "HWCI_SESSION_FILE")


def organization(client: Client, wanted: str) -> UUID:
    """Find an organization of the person by its name or its id."""
    own = list(client.orgs.list())
    for organization in own:
        if wanted in {organization.name, str(organization.id)}:
            return organization.id
    raise LookupError(f"no organization {wanted!r}; yours: {', '.join(it.name for it in own)}")


def pending(client: Client) -> list[Failure]:
    """List all failures that still fail, page after page."""
    return list(client.failures.list(label=Label.PENDING, as_of=AS_OF, limit=100))


def newest(client: Client) -> tuple[int, list[str]]:
    """Read one page: how many runs there are, and the boxes of the newest ones."""
    runs = client.runs.list(limit=2)
    return runs.total, [run.box_key for run in runs.items]


def confirm(client: Client, failure_id: UUID) -> str:
    """Count a resolved failure as a real firmware bug."""
    try:
        return client.failures.confirm(failure_id).failure_class
    except errors.ConflictError as fault:
        return f"not possible: {fault.message}"


def events(client: Client) -> Iterator[RunEvent]:
    """Yield what happens to runs, until the caller stops."""
    with client.runs.follow() as following:
        yield from following


def misspelled(client: Client) -> str:
    """Ask for a repository that nothing has."""
    try:
        client.runs.list(repo_key="soak/power-bord")
    except errors.NotFoundError as fault:
        return fault.message
    return ""


def signed_in(url: str, file: Path) -> Session:
    """Keep a sign-in in a file, which threads and processes of this program may share."""
    return Session(url, file, login=lambda: (os.environ["HWCI_EMAIL"], os.environ["HWCI_PASSWORD"]))


def main() -> int:
    if missing := [name for name in NEEDED if not os.environ.get(name)]:
        print(f"Set {', '.join(missing)}", file=sys.stderr)
        return 2
    url = os.environ["HWCI_URL"]
    try:
        session = signed_in(url, Path(os.environ["HWCI_SESSION_FILE"]))
        with Client(url, token=session) as client:
            client.org_id = organization(client, os.environ["HWCI_ORG"])
            total, boxes = newest(client)
            print(f"{total} runs, the newest on {' and '.join(boxes)}")
            failures = pending(client)
            print(*(f"{it.test_id} fails on {it.box_key}" for it in failures), sep="\n")
            print(confirm(client, failures[0].id))
            print(misspelled(client))
            print(f"triggers: {', '.join(Trigger)}")
    except (HwciError, LookupError) as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
