# SPDX-License-Identifier: Apache-2.0
"""Finding what a person names in a command: by its name, its id, or the first digits of its id. The
rows that are searched come from the caller.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from hwci.cli.terminal.grids import ID_DIGITS
from hwci.client.explained import ExplainedError, command_error, wrong_usage
from hwci.wire import limits
from hwci.wire.nearest import hint

if TYPE_CHECKING:
    from hwci.cli.session.connection import Connection

UUID_LENGTH = 36


class Named(NamedTuple):
    """What a person names, in the words of the errors."""

    thing: str
    """What the id is of: `failure`."""
    command: str
    """The command that lists them."""
    among: str
    """Which of them are searched: `of the last 30 days`."""
    others: str
    """How to reach one that is not among these: `Look further back with --days, or use`."""


def complete(text: str, named: Named, *lists: Callable[[], Iterable[UUID]]) -> UUID:
    """Complete an id if it is abbreviated: from the first of these lists, each longer than the one
    before, that has it.
    """
    prefix = text.lower()
    if len(prefix) == UUID_LENGTH:
        return _uuid(prefix, named)
    if len(prefix) < ID_DIGITS or set(prefix) - set("0123456789abcdef-"):
        raise _no_id(text, named)
    ids: set[UUID] = set()
    for listed in lists:
        ids = ids or {known for known in listed() if str(known).startswith(prefix)}
    return _only(text, named, ids, f"{len(ids)} ids begin with it")


def find(text: str, named: Named, listed: Callable[[], Iterable[tuple[UUID, str]]]) -> UUID:
    """Find an id among those listed, each with its name: by the exact name, else by the name in any
    case, else by the id.
    """
    known = list(listed())
    ids = {known_id for known_id, name in known if name == text}
    ids = ids or {known_id for known_id, name in known if name.casefold() == text.casefold()}
    if not ids and len(text) >= ID_DIGITS:
        ids = {known_id for known_id, _ in known if str(known_id).startswith(text.lower())}
    cause = f"{len(ids)} of {len(known)} have this name, or an id that begins with it"
    if not ids and (near := hint(text, (name for _, name in known))):
        cause = near
    return _only(text, named, ids, cause)


def repository_of(server: "Connection", commit: str) -> str:
    """Return the repository that has runs of a commit."""
    from hwci.client import calls

    runs = server.items(calls.list_runs(server.org_id(), sha=commit, limit=limits.PAGE_LIMIT_MAX))
    known = sorted({run.repo_key for run in runs})
    if len(known) == 1:
        return known[0]
    if not known:
        raise command_error(
            "The commit was not found",
            f"no run is of a commit that begins with {commit}",
            "hwci runs list shows the commits that ran",
        )
    raise wrong_usage(
        "It is not clear which commit is meant",
        f"several repositories have one that begins so: {', '.join(known)}",
        "Use --repo-key REPO",
    )


def _only(text: str, named: Named, ids: set[UUID], cause: str) -> UUID:
    if len(ids) == 1:
        return ids.pop()
    raise command_error(
        f"{text} names more than one {named.thing}"
        if ids
        else f"{text} names no {named.thing} {named.among}",
        cause,
        f"{named.others} the whole id ({named.command} --output csv)",
    )


def _uuid(text: str, named: Named) -> UUID:
    try:
        return UUID(text)
    except ValueError as fault:
        raise _no_id(text, named) from fault


def _no_id(text: str, named: Named) -> ExplainedError:
    return wrong_usage(
        f"{text!r} is not an id of a {named.thing}",
        f"an id is a UUID, or at least its first {ID_DIGITS} digits",
        f"Find it with: {named.command}",
    )
