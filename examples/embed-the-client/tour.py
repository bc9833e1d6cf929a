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
    FailureAnswer,
    HwciError,
    Label,
    RunEvent,
    Session,
    Trigger,
    calls,
    errors,
)

AS_OF = datetime(2026, 3, 5, tzinfo=UTC)
NEEDED = ("HWCI_URL", "HWCI_ORG", "HWCI_EMAIL", "HWCI_PASSWORD", "HWCI_SESSION_FILE")


def organization(client: Client, wanted: str) -> UUID:
    """Find an organization of the person by its name or its id."""
    own = client.send(calls.me()).organizations
    for one in own:
        if wanted in {one.name, str(one.id)}:
            return one.id
    raise LookupError(f"no organization {wanted!r}; yours: {', '.join(one.name for one in own)}")


def pending(client: Client, org_id: UUID) -> list[FailureAnswer]:
    """List all failures that still fail, page after page."""
    call = calls.list_failures(org_id, label=Label.PENDING, as_of=AS_OF, limit=100)
    return list(client.items(call))


def newest(client: Client, org_id: UUID) -> tuple[int, list[str]]:
    """Read one page: how many runs there are, and the boxes of the newest ones."""
    page = client.send(calls.list_runs(org_id, limit=2))
    return page.total, [run.box_key for run in page.items]


def confirm(client: Client, org_id: UUID, failure_id: UUID) -> str:
    """Count a resolved failure as a real firmware bug."""
    try:
        return client.send(calls.confirm_failure(org_id, failure_id)).failure_class
    except errors.ConflictError as fault:
        return f"not possible: {fault.message}"


def events(client: Client, org_id: UUID) -> Iterator[RunEvent]:
    """Yield what happens to runs, until the caller stops."""
    with client.follow(org_id) as following:
        yield from following


def misspelled(client: Client, org_id: UUID) -> str:
    """Ask for a repository that nothing has."""
    try:
        client.send(calls.list_runs(org_id, repo_key="soak/power-bord"))
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
        with Client(url, token=signed_in(url, Path(os.environ["HWCI_SESSION_FILE"]))) as client:
            org_id = organization(client, os.environ["HWCI_ORG"])
            total, boxes = newest(client, org_id)
            print(f"{total} runs, the newest on {' and '.join(boxes)}")
            found = pending(client, org_id)
            print(*(f"{one.test_id} fails on {one.box_key}" for one in found), sep="\n")
            print(confirm(client, org_id, found[0].id))
            print(misspelled(client, org_id))
            print(f"triggers: {', '.join(Trigger)}")
    except (HwciError, LookupError) as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
