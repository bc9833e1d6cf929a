# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of `docs/reference`, and tables of the guides, from the code, so that they
cannot grow old.

`python -m docs.generate` (or `make docs`) writes them; `tests/docs` fails while a page differs from
what this module would write. It decides how the pages look; every fact in them is the code's.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from types import ModuleType
from typing import Any

import typer.main

from docs import ci_systems, client_stub, project_schema, web_words
from docs.variables import VARIABLES as CLIENT_VARIABLES
from hwci.cli.main import app
from hwci.cli.terminal.lists import LISTS, NARROWING, flags_of
from hwci.contract.vocabulary import REASONS
from hwci.server import deadline, settings
from hwci.server.app import process
from hwci.server.http import cookies
from hwci.server.http import streams as sending
from hwci.server.http.bodies import apart, body, buffers, strict_json
from hwci.server.http.connections import connection, listener, unread
from hwci.server.security import passwords
from hwci.server.services import rate_limits, shared_answers
from hwci.server.services.ci_metrics import ingest, reviews
from hwci.server.services.runs import streams
from hwci.server.storage import reading, threads, turns
from hwci.server.storage.sqlite import checking, condition, page_sums
from hwci.wire import json_values, limits
from hwci.wire.codec import name_of as answer_name
from hwci.wire.endpoint import Endpoint, OwnLimit, Who
from hwci.wire.endpoints import every

REFERENCE = Path(__file__).parent / "reference"

ENFORCED: dict[ModuleType, tuple[str, ...]] = {
    rate_limits: ("SITE_FACTOR", "WRONG_PASSWORDS", "BY_UNKNOWN_DEVICES", "OF_ONE_ADDRESS"),
    passwords: ("WAITING_MAX",),
    process: ("CONNECTIONS_MOST",),
    listener: ("PARTS",),
    connection: (
        *("LINE_BYTES", "HEADER_BYTES", "HEADERS_MAX"),
        *("HEAD_SECONDS", "LISTEN_SECONDS", "IDLE_SECONDS"),
    ),
    cookies: ("COOKIES_MAX",),
    unread: ("UNREAD_BYTES", "UNREAD_OF_ONE_BYTES"),
    body: ("BODY_SECONDS", "LARGE_SECONDS", "LARGE_BYTES", "PACE_SECONDS", "PACE_BYTES"),
    buffers: ("ROOM_BYTES", "TURN_SECONDS"),
    json_values: ("VALUES_MAX",),
    strict_json: ("DEPTH_MAX",),
    apart: ("CPU_SECONDS", "ADDRESS_BYTES", "KEPT_BYTES", "IDLE_SECONDS"),
    shared_answers: ("HELD_BYTES_MAX", "HELD_SECONDS"),
    turns: ("WAITING_OF_ONE_MAX",),
    threads: ("WAITING_MAX",),
    reading: ("SHORT_SECONDS", "SHORT_WAIT_SECONDS", "LATELY_SECONDS"),
    deadline: ("ANSWER_SECONDS",),
    reviews: ("REVIEW_SECONDS",),
    ingest: ("WRITE_SECONDS",),
    sending: ("SIGN_IN_SECONDS", "DRAIN_SECONDS", "PING_SECONDS"),
    streams: ("SILENCE_SECONDS", "CHECK_SECONDS"),
    condition: ("ROOM_BYTES", "FULL_SECONDS"),
    checking: ("LOOK_SECONDS", "SLICE_SECONDS", "LOG_SECONDS"),
    page_sums: ("SLICE",),
}
"""The limits that callers meet and no model has, by the module that enforces them."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Lay out a table in Markdown."""
    lines = [list(head)]
    lines.append(["---"] * len(lines[0]))
    lines += [[cell.replace("|", r"\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def reasons() -> str:
    """Every reason, in the order in which the checks are asked."""
    rows = ((f"`{reason}`", f"`{row.failure_class}`", row.text) for reason, row in REASONS.items())
    return (
        "# Reasons\n\nWhy a resolved failure is not counted as a real firmware bug. The checks are"
        " asked in this order; the first that fails gives the reason. A failure that passes them"
        " all is a `real_fw_bug` without a reason.\n\n"
        + table(("code", "class", "text"), rows)
        + "\n[How hwci decides](../semantics.md) has the rule behind each.\n"
    )


def limit_values() -> str:
    """Every limit by its name in `hwci.wire.limits`."""
    head = ("name", "value", "meaning")
    of_wire = (constant(limits, name) for name in constants(limits))
    of_server = (constant(module, name) for module, names in ENFORCED.items() for name in names)
    by_address = "Requests of one address to "
    own = (
        (f"`{one.name}`", f"{one.value} per 1 minute", by_address + one.name.lower())
        for one in OwnLimit
    )
    return (
        "# Limits\n\n## Of fields, lists and secrets\n\nOne place in the code, `hwci.wire.limits`;"
        " those of fields and parameters stand in `/api/openapi.json` too.\n\n"
        + table(head, of_wire)
        + "\n## Of requests, connections and time\n\nThey stand where the server enforces them, and"
        " are the same on every server. The limit of all requests, and another one for sign-in, are"
        " [settings](settings.md).\n\n" + table(head, (*own, *of_server))
    )


def constants(module: ModuleType) -> list[str]:
    """Return the names of a module's own public constants, as they stand in it."""
    return re.findall(r"^([A-Z][A-Z_]*) = ", inspect.getsource(module), re.MULTILINE)


def constant(module: ModuleType, name: str) -> tuple[str, str, str]:
    """Return the row of a constant; the text that stands below it is its meaning."""
    value = getattr(module, name)
    note = re.search(rf'^{name} = .*\n"""((?:.|\n)*?)"""', inspect.getsource(module), re.MULTILINE)
    assert note is not None, f"{module.__name__}: {name} has no text below it"
    shown = (
        f"{value:,g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )
    return f"`{name}`", shown, " ".join(note[1].split())


def route_row(route: Endpoint) -> tuple[str, ...]:
    """Return the row of a route."""
    who = route.who.value + (", CI Metrics enabled" if route.metrics else "")
    models = [model.__name__ for model in (route.body, route.query) if model is not None]
    # A generic answer's name has its item in brackets.
    answer = "" if route.answer is None else f" `{answer_name(route.answer)}`"
    return (
        f"{route.method} `{route.path}`",
        route.summary,
        who,
        ", ".join(f"`{name}`" for name in models),
        f"{route.status}{answer}",
        ", ".join(str(status) for status in route.errors),
    )


def routes() -> str:
    """Every route of the server."""
    head = ("route", "what it does", "who", "body, query", "answer", "errors")
    challenged = ", ".join(who.value for who in Who if who is not Who.ANYONE)
    return (
        "# Routes\n\nThe server gives the whole contract as OpenAPI 3.1 at `/api/openapi.json`."
        f" Callers are known by a bearer token or an `X-API-Key` ({challenged}); any route may"
        f" also answer {int(HTTPStatus.INTERNAL_SERVER_ERROR)} or"
        f" {int(HTTPStatus.SERVICE_UNAVAILABLE)}.\n\n"
        + table(head, (route_row(route) for route in every()))
    )


def default_of(variable: settings.Variable) -> str:
    """Return the default of a variable of the server, as it would be written."""
    value = getattr(settings.Settings(), variable.setting)
    if isinstance(value, bool | float):
        value = f"{value:g}"
    return f"`{value}`" if value not in {None, ()} else ""


def name_of(name: str, secret: bool) -> str:
    """Name a variable, and the one that names a file in its place."""
    return f"`{name}`" + (f", `{name}_FILE`" if secret else "")


def variables() -> str:
    """Every variable of the server and of the command line."""
    server = (
        (name_of(row.name, row.secret), default_of(row), row.meaning) for row in settings.VARIABLES
    )
    client = ((name_of(row.name, row.secret), row.meaning) for row in CLIENT_VARIABLES)
    return (
        "# Settings\n\nA flag wins over a variable, a variable over the kept profile,"
        " that over the default. An empty variable is not set."
        " A variable that ends in `_FILE` names a file that holds the value: secrets need not stand"
        " in the environment.\n\n"
        "## Of the server\n\nRead by `hwci serve` and `hwci admin`.\n\n"
        + table(("variable", "default", "meaning"), server)
        + "\n## Of the other commands\n\n"
        + table(("variable", "meaning"), client)
    )


def walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - typer's own
    """Return every command that does something, with its whole name."""
    command = getattr(command, "itself", command)
    inner = getattr(command, "commands", None)
    if not inner:
        yield path, command
        return
    for name, child in inner.items():
        if child.hidden:
            continue
        yield from walk(child, f"{path} {name}")


def flags(command: Any) -> str:  # noqa: ANN401 - typer's own
    """Return the table of a command's flags."""
    rows = []
    for parameter in command.params:
        if parameter.name == "help":
            continue
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        rows.append((names, " ".join((parameter.help or "").split())))
    return table(("flag", "meaning"), rows) if rows else ""


def lists() -> str:
    """Every list with the flags that narrow it."""
    rows = (
        (f"`hwci {name}`", *("yes" if flag in flags_of(name) else "" for flag in NARROWING))
        for name in LISTS
    )
    head = ("list", *(f"`--{flag}`" for flag in NARROWING))
    return (
        "## Lists\n\nA list takes the flags that its rows can answer, and `--json`. The box of"
        " `boxes show` and `boxes notes` is their argument.\n\n" + table(head, rows)
    )


def commands() -> str:
    """Every command with its help."""
    parts = ["# Commands\n\nEach page has what `hwci COMMAND --help` shows, in short.\n", lists()]
    for path, command in walk(typer.main.get_command(app), "hwci"):
        # `\b` keeps a block of a help text as it is, in a terminal.
        text = inspect.cleandoc(command.help or "").replace("\f", "").replace("\b\n", "")
        parts.append(f"## `{path}`\n\n{examples_as_code(text)}\n\n{flags(command)}")
    return "\n".join(parts)


def examples_as_code(text: str) -> str:
    """Show the indented lines of a help text as they are typed, the rest of a command below it."""
    return re.sub(r"^  (hwci .*| {4}.*)$", r"    \1", text, flags=re.MULTILINE)


PAGES = {
    "reasons.md": reasons,
    "limits.md": limit_values,
    "routes.md": routes,
    "settings.md": variables,
    "commands.md": commands,
}


WRITTEN = (
    client_stub.FILES
    | web_words.FILES
    | project_schema.FILES
    | {ci_systems.GUIDE: partial(ci_systems.guide, table)}
)
"""Files that are written from code elsewhere, of the guide its tables."""


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page())
    for path, text in WRITTEN.items():
        path.write_text(text())


if __name__ == "__main__":
    main()
