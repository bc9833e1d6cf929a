# SPDX-License-Identifier: Apache-2.0
"""Commands that list rows: their shared flags, the call that gets them, and the form of the output.
Which list can be narrowed by what is decided in `hwci.cli.terminal.lists`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from hwci.cli.session import narrowing
from hwci.cli.session.connection import Command, Connection, connected
from hwci.cli.terminal import options
from hwci.cli.terminal.lists import flags_of
from hwci.cli.terminal.render import emit, emit_found
from hwci.cli.terminal.tables import View, only_repo
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.cli.terminal.tables import Layout
    from hwci.client import Call
    from hwci.contract.shape import ListPage

    Listed = tuple["Call[ListPage[T]]", Callable[[View], "Layout[T]"]]
    """The call that lists rows, and their table."""

T = TypeVar("T")


def listing(
    layout: "Callable[[View], Layout[Any]]",
    command: str,
    noun: str = "row",
    *,
    org: bool = True,
    by_key: bool = False,
) -> Callable[[Callable[..., Iterable[Any]]], Command]:
    """Make a command that lists the rows which a function returns, in the form of `--output`. The
    function gets what its call takes of the flags that narrow the list of this `command`.
    """

    def decorate(function: Callable[..., Iterable[Any]]) -> Command:
        def show(connection: Connection, **arguments: Any) -> None:
            form = options.form_of(arguments.pop("json"), arguments.pop("output"))
            flags = {name: arguments.pop(name) for name in flags_of(command)}
            filters = narrowing.filters_of(connection, flags)
            rows: list[Any] = narrowing.answer_or(
                connection, filters, lambda: list(function(connection, **arguments, **filters)), []
            )
            shape = layout(View(options.now(), "suite" in filters, only_repo(rows)))
            if not rows:
                shape = narrowing.explained(connection, shape, filters, noun, form)
            emit(shape, rows, form)

        own = _own(function)
        added = [
            *narrowing.parameters(command),
            options.flag("json", options.JsonList, default=False),
            options.flag("output", options.Output),
        ]
        return connected(org=org, by_key=by_key)(options.described(show, function, [*own, *added]))

    return decorate


_OF_A_PERIOD: Mapping[str, tuple[Any, object]] = {
    "days": (options.Days, limits.DAYS_DEFAULT),
    "repo": (options.Repo, None),
    "as_of": (options.AsOf, None),
    "page": (options.Page, 1),
    "limit": (options.Limit, limits.PAGE_LIMIT_DEFAULT),
    "every": (options.All, False),
    "json": (options.Json, False),
    "output": (options.Output, None),
}
"""The flags of a list of a period, and what they are if they are not set."""


def listing_of_a_period(
    command: str, noun: str
) -> "Callable[[Callable[..., Listed[Any]]], Command]":
    """Make a command that lists a page of what a period has, or all of it with --all. The function
    gets what its call takes of the flags, and returns that call and the table.
    """

    def decorate(function: "Callable[..., Listed[Any]]") -> Command:
        def show(connection: Connection, **arguments: Any) -> None:
            from hwci.contract.shape import ListPage

            of_period = {name: arguments.pop(name) for name in _OF_A_PERIOD}
            flags = {name: arguments.pop(name) for name in flags_of(command)}
            every, form = (
                of_period["every"],
                options.form_of(of_period["json"], of_period["output"]),
            )
            end = options.time_of(of_period["as_of"], "--as-of")
            now = end or options.now()
            filters = narrowing.filters_of(connection, flags, of_period["repo"])
            filters |= {"days": of_period["days"], "as_of": now if every else end}
            page = options.pages(of_period["page"], of_period["limit"], every=every)
            call, layout = function(connection, **arguments, **filters, **page)
            answer: ListPage[Any] | list[Any] = narrowing.answer_or(
                connection,
                filters,
                lambda: list(connection.items(call)) if every else connection.send(call),
                [] if every else ListPage[Any](items=(), total=0, **page),
            )
            items = answer if isinstance(answer, list) else answer.items
            view = View(now, "suite" in filters, only_repo(items))
            shape = layout(view)
            if not (answer if isinstance(answer, list) else answer.total):
                narrowed = {**filters, "test_id": arguments.get("test")}
                shape = narrowing.explained(connection, shape, narrowed, noun, form)
            emit_found(answer, shape, form, noun, connection.links)

        added = narrowing.parameters(command)
        added += [options.flag(name, *flag_parts) for name, flag_parts in _OF_A_PERIOD.items()]
        own = _own(function)
        return connected(by_key=True)(options.described(show, function, [*own, *added]))

    return decorate


def _own(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function but those that it gets of shared flags."""
    parameters = inspect.signature(function).parameters.values()
    return [
        parameter for parameter in parameters if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
