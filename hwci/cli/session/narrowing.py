# SPDX-License-Identifier: Apache-2.0
"""The flags that narrow a list: what its call gets of them, and what is said where no row fits.
Which list takes which is decided in `hwci.cli.terminal.lists`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from hwci.cli.terminal import options
from hwci.cli.terminal.lists import flags_of
from hwci.cli.terminal.render import Format, note
from hwci.cli.terminal.tables import product
from hwci.client.explained import not_empty
from hwci.contract.vocabulary import BranchChoice
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.cli.session.connection import Connection
    from hwci.cli.terminal.tables import Layout

T = TypeVar("T")

Filters = dict[str, Any]
"""What a call gets of the flags, by its own names."""

_KINDS: Mapping[str, Any] = {
    "box": options.OfBox,
    "branch": options.OfBranch,
    "sha": options.OfSha,
    "product": options.Product,
}
_OF_COMMANDS: Mapping[tuple[str, str], Any] = {
    ("incidents list", "branch"): options.OfBranches,
}
_FIELDS = {"box": "box_key", "branch": "branch", "sha": "sha", "test": "test_id"}
_NONE = {
    "box": "Box {} has reported no run{}",
    "branch": "No run{1} is of branch {0}",
    "sha": "No run{1} is of a commit that begins with {0}",
    "test": "No report{1} names the test {0}",
}


def parameters(command: str) -> list[inspect.Parameter]:
    """Return the flags of a list."""
    return [
        options.flag(name, _OF_COMMANDS.get((command, name), _KINDS[name]))
        for name in flags_of(command)
    ]


def filters_of(server: "Connection", given: Mapping[str, Any], repo: str | None = None) -> Filters:
    """Return what a call gets of these flags. `repo`: all products of a repository."""
    filters = {
        _FIELDS[name]: not_empty(given[name], f"--{name}") for name in _FIELDS & given.keys()
    }
    if "product" in given:
        filters["repo_key"], filters["suite"] = server.scope_of(given["product"], repo)
    return {name: value for name, value in filters.items() if value is not None}


def answer_or(server: "Connection", filters: Filters, ask: Callable[[], T], empty: T) -> T:
    """Return what a list answers; `empty` where nothing names its box. Raises `NotFoundError`: it
    is the product that nothing names.
    """
    from hwci.client import calls
    from hwci.client.errors import NotFoundError

    try:
        return ask()
    except NotFoundError:
        if "box_key" not in filters:
            raise
        server.send(calls.list_runs(server.org_id(), **_scope(filters), limit=1))
        return empty


def _scope(filters: Filters) -> Filters:
    return {name: filters[name] for name in ("repo_key", "suite") if name in filters}


def explained(
    server: "Connection", layout: "Layout[Any]", filters: Filters, noun: str, form: Format
) -> "Layout[Any]":
    """Return the table of a list without a row, which says what of its flags fits none. In another
    form this is noted at once: a program gets an empty list.
    """
    line = nothing_fits(server, filters, noun)
    if line and form is not Format.TABLE:
        note(line)
    return replace(layout, empty=line) if line else layout


def nothing_fits(server: "Connection", filters: Filters, noun: str) -> str:
    """Return what is said of a list without a row: which of its flags names what no report names,
    else that they leave nothing; "" if the list is not narrowed.
    """
    if line := unknown(server, filters):
        return line
    used = _used(filters)
    flags = ", ".join(f"--{name} {value}" for name, value in used.items())
    back = ", or look further back with --days" if "days" in filters else ""
    return f"No {noun} fits {flags}: leave a flag out{back}" if flags else ""


def unknown(server: "Connection", filters: Filters) -> str:
    """Return what is said of the first flag that names what no report names; "" without
    one.
    """
    lines = (_unknown(server, *named, _scope(filters)) for named in _used(filters).items())
    return next(filter(None, lines), "")


def _used(filters: Filters) -> Filters:
    return {name: filters[field] for name, field in _FIELDS.items() if filters.get(field)}


def _unknown(server: "Connection", name: str, value: str, scope: Filters) -> str:
    from hwci.client import calls
    from hwci.client.errors import NotFoundError

    if name == "branch" and ("*" in value or value in [*BranchChoice]):
        return ""  # no name
    of_value: Filters = {_FIELDS[name]: value, **scope}
    try:
        if server.send(calls.list_runs(server.org_id(), **of_value, limit=1)).total:
            return ""
    except NotFoundError as fault:  # the product was known: the list was answered
        _, _, near = fault.message.partition("; ")
        hint = f" ({near})" if near else ""
        return f"No box is called {value}: hwci boxes list shows them{hint}"
    of_product = f" of {product(*scope.values())}" if len(scope) > 1 else ""
    near = ""
    if name == "branch":
        near = _near_branch(server, value, scope)
    elif name == "test":
        near = server.near_test(server.org_id(), value, **scope)
    hint = f" ({near})" if near else ""
    lists = "hwci tests list" if name == "test" else "hwci runs list"
    return f"{_NONE[name].format(value, of_product)}: {lists} shows those that there are{hint}"


def _near_branch(server: "Connection", branch: str, scope: Filters) -> str:
    """Return which branch of the latest runs may be meant."""
    from hwci.client import calls
    from hwci.wire.nearest import hint

    latest = calls.list_runs(server.org_id(), **scope, limit=limits.PAGE_LIMIT_MAX)
    return hint(branch, sorted({run.branch for run in server.send(latest).items}))
