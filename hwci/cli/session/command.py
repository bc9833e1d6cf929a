# SPDX-License-Identifier: Apache-2.0
"""Commands of a signed-in person: their shared flags, and the connection that they get."""

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hwci.cli.session.connection import Connection, signed_in
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options
from hwci.cli.terminal.render import emit
from hwci.cli.terminal.tables import View

if TYPE_CHECKING:
    from hwci.cli.terminal.tables import Layout

Command = Callable[..., None]


def connected(*, org: bool = True) -> Callable[[Command], Command]:
    """Make a command of a function whose first argument is the connection: the flags that decide it
    are added, `--org` if wanted, `--url` and `--profile`.
    """
    flags = {"org": options.Org, "url": options.Url, "profile": options.Profile}

    def decorate(function: Command) -> Command:
        def command(**given: Any) -> None:  # noqa: ANN401 - whatever flags it has
            named = {name: given.pop(name) for name in flags if name in given}
            with signed_in(Flags(**named)) as connection:
                function(connection, **given)

        own = list(inspect.signature(function).parameters.values())[1:]
        added = [_flag(name, kind) for name, kind in flags.items() if org or name != "org"]
        return _described(command, function, [*own, *added])

    return decorate


def listing(
    layout: "Callable[[View], Layout[Any]]", *, org: bool = True
) -> Callable[[Callable[..., Iterable[Any]]], Command]:
    """Make a command that lists the rows which a function returns, in the form of `--output`."""

    def decorate(function: Callable[..., Iterable[Any]]) -> Command:
        def show(connection: Connection, **given: Any) -> None:  # noqa: ANN401 - as above
            form = options.form_of(given.pop("json"), given.pop("output"))
            emit(layout(View(options.now())), list(function(connection, **given)), form)

        own = inspect.signature(function).parameters.values()
        added = [_flag("json", options.JsonList, default=False), _flag("output", options.Output)]
        return connected(org=org)(_described(show, function, [*own, *added]))

    return decorate


def _flag(name: str, kind: Any, default: object = None) -> inspect.Parameter:  # noqa: ANN401 - annotated for typer
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, annotation=kind, default=default)


def _described(
    command: Command, function: Callable[..., Any], parameters: list[inspect.Parameter]
) -> Command:
    """Set the name, help and parameters of a command, for typer to read."""
    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command
