# SPDX-License-Identifier: Apache-2.0
"""Boxes as people manage them: `hwci boxes`; and what runs on the bench itself: `hwci box`
(contract, "Boxes").
"""

import os
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from hwci import client
from hwci.cli.session import ids, narrowing
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing
from hwci.cli.session.prompts import secret_line
from hwci.cli.session.settings import RETRIES, Flags, box_credential, resolve, secret
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.errors import report
from hwci.cli.terminal.grids import ID_DIGITS
from hwci.cli.terminal.render import Format, emit_json, note, write, write_prose
from hwci.client.explained import ExitCode
from hwci.contract.page.words import BOX_IS_REMOVED
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.contract.boxes.boxes import Box, BoxNote
    from hwci.wire.boxes import BoxInstallAnswer

boxes = typer.Typer(no_args_is_help=True)
box = typer.Typer(no_args_is_help=True)

WhichBox = Annotated[str, typer.Argument(metavar="BOX", help="The box, by id or name.")]
ONLINE_FOR_S = int(limits.BOX_ONLINE_FOR.total_seconds())
_WAYS = "--token-stdin, or as HWCI_INSTALL_TOKEN (in a file: HWCI_INSTALL_TOKEN_FILE)"


@box.command("install")
def install(
    url: options.Url = None,
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read the install token from stdin.")
    ] = False,
    key_file: options.KeyFile = None,
) -> None:
    """Exchange an install token for the key of this bench, and keep the key in a file.

    The token is HWCI_INSTALL_TOKEN (or in the file that HWCI_INSTALL_TOKEN_FILE names), or is asked
    for; it is never an argument. An earlier key of the box ends, and its file is written over.

    For example:

      hwci box install --url https://hwci.example.org

      hwci box install --url https://hwci.example.org --token-stdin < token.txt
    """
    from hwci.bench.box_key import BoxKey, box_file, exchange, place_for_key

    path = box_file(key_file, os.environ)
    server = resolve(Flags(url)).url_for_key("The box was not installed")
    with place_for_key(path) as keep:
        token = None if token_stdin else secret("HWCI_INSTALL_TOKEN", os.environ)
        token = token or secret_line("install token", _WAYS, from_stdin=token_stdin)
        made = exchange(server, token, RETRIES)
        keep(BoxKey(server, str(made.box_id), made.name, str(made.org_id), made.api_key))
    note(f"This machine is box {made.name} at {server}. Its key is in {path}.")
    note("Keep it online: hwci box heartbeat")


@box.command("heartbeat")
def heartbeat(
    once: Annotated[bool, typer.Option("--once", help="Send one and end.")] = False,
    every: Annotated[
        int, typer.Option(min=1, max=ONLINE_FOR_S, metavar="SECONDS", help="How often to send one.")
    ] = 60,
    url: options.Url = None,
    key_file: options.KeyFile = None,
) -> None:
    """Keep this bench online, and its live runs alive, until SIGTERM or Ctrl-C.

    It goes on while the server is away, and ends with exit code 4 when the key is refused. Without
    `hwci box install`, the key is HWCI_BOX_KEY (or in the file that HWCI_BOX_KEY_FILE names).

    For example:

      hwci box heartbeat

      hwci box heartbeat --once
    """
    from hwci.bench.heartbeat import send_heartbeat, send_heartbeats

    credential = box_credential(url, key_file, os.environ)
    if once:
        send_heartbeat(credential, RETRIES)
    else:
        send_heartbeats(credential, every, note, partial(report, word="warning"))


def _layout(view: tables.View) -> "tables.Layout[Box]":
    column = tables.Column
    return tables.Layout(
        "boxes",
        "Boxes",
        [
            tables.id_column(lambda row: row.id, none="none"),
            column("Name", lambda row: row.name),
            column("Status", lambda row: row.status),
            tables.time_column(
                "Last heartbeat", lambda row: row.last_seen_at, view.now, none="none"
            ),
            tables.time_column(
                "Last report", lambda row: row.last_report_at, view.now, none="none"
            ),
            tables.time_column("Created", lambda row: row.created_at, view.now, spare=True),
        ],
        "id name status lastSeenAt lastReportAt createdAt",
        "No box yet: hwci boxes create NAME",
    )


@boxes.command("list")
@listing(_layout, "boxes list", "box")
def list_boxes(server: Connection, **wanted: Any) -> "Iterable[Box]":
    """List the boxes of an organization, and those that only reported, which have no id.

    Online: a heartbeat came in the last 3 minutes. Reported: nobody created it, and reports name
    it. With --product, --branch or --sha those that ran it.

    For example:

      hwci boxes list

      hwci boxes list --branch main --product acme/firmware:sensor-fw
    """
    return server.items(client.calls.list_boxes(server.org_id(), reported=True, **wanted))


@boxes.command("health")
@connected(by_key=True)
def health(
    server: Connection,
    *,
    days: options.Days = limits.DAYS_DEFAULT,
    box: options.OfBox = None,
    branch: options.OfBranches = None,
    product: options.Product = None,
    repo: options.Repo = None,
    as_of: options.AsOf = None,
    json: options.Json = False,
    output: options.Output = None,
) -> None:
    """Show which box fails more than the others on the same commits, and how each box fares.

    Compared are tests that ran on two boxes or more at the same commit, so that a bad commit or a
    flaky test is not blamed on a box. It counts first attempts that failed.

    For example:

      hwci boxes health --days 90

      hwci boxes health --branch default

      hwci boxes health --product acme/firmware:sensor-fw --json
    """
    from hwci.cli.terminal import box_health

    form = options.form_of(json, output)
    filters = narrowing.filters_of(server, {"branch": branch, "product": product}, repo)
    end = options.time_of(as_of, "--as-of")
    health = server.send(client.calls.box_health(server.org_id(), days=days, as_of=end, **filters))
    if box is not None:
        boxes = tuple(row for row in health.boxes if row.box_key == box)
        tests = tuple(row for row in health.tests if row.box_key == box)
        health = replace(
            health, boxes=boxes, boxes_total=len(boxes), tests=tests, tests_total=len(tests)
        )
        if not boxes:
            note(narrowing.nothing_fits(server, {**filters, "box_key": box, "days": days}, "run"))
            if form is Format.TABLE:
                return
    box_health.show(health, form, server.links)


@boxes.command("show")
@connected(by_key=True)
def show(
    server: Connection,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The box, as its runs name it.")],
    *,
    days: options.Days = limits.DAYS_DEFAULT,
    branch: options.OfBranches = None,
    product: options.Product = None,
    repo: options.Repo = None,
    as_of: options.AsOf = None,
    json: options.Json = False,
    output: options.Output = None,
) -> None:
    """Show one box: its shares beside all other boxes together, and what failed on it alone.

    Shares count all runs of the period, whatever they tested; the sentence compares the same tests
    on the same commits.

    For example:

      hwci boxes show bench-2

      hwci boxes show bench-2 --product acme/firmware:sensor-fw --json
    """
    from hwci.cli.terminal import one_box

    form = options.form_of(json, output)
    filters = narrowing.filters_of(server, {"branch": branch, "product": product}, repo)
    end = options.time_of(as_of, "--as-of")
    call = client.calls.one_box(
        server.org_id(), box_key=_key_of(server, name), days=days, as_of=end, **filters
    )
    answer = server.send(call)
    one_box.show(answer, form, server.links)


CleanWithin = Annotated[
    str, typer.Option(metavar="TIME", help="How old its last clean run may be: 90m, 24h, 7d.")
]
Losses = Annotated[
    str, typer.Option(metavar="PERCENT", help="In how many of its runs it may lose its board.")
]
SilentAfter = Annotated[
    str, typer.Option(metavar="TIME", help="How old its last heartbeat may be.")
]
Worse = Annotated[
    bool,
    typer.Option("--worse", help="It may fail more than the others, or have none to compare with."),
]
OnlyIfTold = Annotated[bool, typer.Option("--strict", help="Too little to tell counts as not fit.")]
AnswerAsJson = Annotated[bool, typer.Option("--json", help="Write the answer as JSON.")]


@boxes.command("fit")
@connected(by_key=True)
def fit(
    server: Connection,
    name: Annotated[str, typer.Argument(metavar="BOX", help="The box, as its runs name it.")],
    *,
    clean_within: CleanWithin = "24h",
    losses: Losses = "5%",
    silent_after: SilentAfter = "15m",
    worse: Worse = False,
    strict: OnlyIfTold = False,
    days: options.Days = 7,
    product: options.Product = None,
    repo: options.Repo = None,
    json: AnswerAsJson = False,
) -> None:
    """Tell whether a box is fit before a job takes it: exit code 0, else 3; with each reason.

    It is fit if its last clean run (no test of it failed or was tried again) is new enough, it did
    not lose its board too often, it is not named as worse than the others, and its heartbeat came
    lately. What there is too little to tell of counts as fit, and is said: a new box, or one that
    was noted as mended and did not run since (hwci boxes note).

    For example:

      hwci boxes fit bench-2

      hwci boxes fit bench-2 --clean-within 7d --losses 10% --strict --json
    """
    from hwci.analysis.benches.fit import Bounds, fitness
    from hwci.cli.terminal import box_fit

    bounds = Bounds(
        options.duration_of(clean_within, "--clean-within"),
        options.percent_of(losses, "--losses"),
        options.duration_of(silent_after, "--silent-after"),
        worse,
    )
    repo_key, suite = server.scope_of(product, repo)
    call = client.calls.one_box(
        server.org_id(),
        box_key=_key_of(server, name),
        days=max(days, min(limits.DAYS_MAX, -(-bounds.clean_within // timedelta(days=1)))),
        repo_key=repo_key,
        suite=suite,
    )
    answer = fitness(server.send(call), bounds, strict=strict)
    if json:
        emit_json(answer)
    else:
        for line in box_fit.lines(answer):
            write_prose(line)
    if not answer.fit:
        raise typer.Exit(ExitCode.NOT_MET)


@boxes.command("create")
@connected()
def create_box(
    server: Connection,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the bench, as in its run reports.")
    ],
    json: options.Json = False,
) -> None:
    """Create a box and print its install token on stdout, only once. Owners and admins only.

    For example:

      hwci boxes create bench-7 > install-token.txt
    """
    made = server.send(client.calls.create_box(server.org_id(), name))
    note(f"Box {made.name} is created.")
    _show(made, server, json=json)


@boxes.command("install-token")
@connected()
def new_install_token(
    server: Connection,
    box: WhichBox,
    json: options.Json = False,
) -> None:
    """Print a token for a new install of a box, whose key works until then. Owners and admins only.

    For example:

      hwci boxes install-token bench-7 > install-token.txt
    """
    org_id = server.org_id()
    box_id, _ = _found(server, org_id, box)
    _show(server.send(client.calls.new_install_token(org_id, box_id)), server, json=json)


@boxes.command("rename")
@connected()
def rename_box(
    server: Connection,
    box: WhichBox,
    name: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
) -> None:
    """Rename a box. Its key goes on; its earlier reports keep the old name. Owners and admins only.

    The bench keeps its old name in later reports until it is installed again, or --box of its job
    names the new one. Install it again: until then a live run has the new name, so a report with
    the old one does not end it, and it is shown as lost.

    For example:

      hwci boxes rename bench-7 bench-9
    """
    org_id = server.org_id()
    box_id, before = _found(server, org_id, box)
    server.send(client.calls.rename_box(org_id, box_id, name))
    note(f"Box {before} is {name} now. Rename it on the bench, too: --box, or a new install.")


@boxes.command("remove")
@connected()
def remove_box(server: Connection, box: WhichBox) -> None:
    """Remove a box: its key stops at once. What it reported stays. Owners and admins only.

    For example:

      hwci boxes remove bench-7
    """
    org_id = server.org_id()
    box_id, name = _found(server, org_id, box)
    server.send(client.calls.remove_box(org_id, box_id))
    note(f"Box {name} {BOX_IS_REMOVED}")


@boxes.command("note")
@connected()
def add_note(
    server: Connection,
    box: Annotated[str, typer.Argument(metavar="BOX", help="The box, as in its run reports.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was done to it.")],
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When: a date-time with an offset [now]."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Note what was done to a box, such as a new cable. Owners and admins only.

    `hwci boxes health` and the page of boxes then compare what it did before and since.

    For example:

      hwci boxes note bench-7 "new USB cable"

      hwci boxes note bench-7 "new power supply" --at 2026-11-03T09:00:00Z
    """
    when = options.time_of(at, "--at")
    added = server.send(
        client.calls.add_box_note(server.org_id(), _key_of(server, box), text, when)
    )
    if json:
        emit_json(added)
    note(f"Noted of {added.box_key} at {tables.moment(added.at)} UTC: {added.text}")


def _notes_layout(view: tables.View) -> "tables.Layout[BoxNote]":
    column = tables.Column
    return tables.Layout(
        "notes",
        "Notes of boxes",
        [
            tables.id_column(lambda row: row.id),
            column("Box", lambda row: row.box_key),
            tables.time_column("When", lambda row: row.at, view.now),
            column("What was done", lambda row: row.text),
            column("By", lambda row: row.by.name, spare=True),
        ],
        "id boxKey at text by.id by.name",
        "No note yet: hwci boxes note BOX TEXT",
    )


@boxes.command("notes")
@listing(_notes_layout, "boxes notes")
def list_notes(
    server: Connection,
    box: Annotated[
        str | None, typer.Argument(metavar="BOX", help="The box, as in its run reports [all].")
    ] = None,
) -> "Iterable[BoxNote]":
    """List what was done to boxes, latest first.

    For example:

      hwci boxes notes bench-7
    """
    return _notes(server, box)


@boxes.command("remove-note")
@connected()
def remove_note(
    server: Connection,
    note_id: Annotated[
        str, typer.Argument(metavar="NOTE", help="The note, by its id, or the start of it.")
    ],
) -> None:
    """Remove a note of a box. Owners and admins only.

    For example:

      hwci boxes remove-note 0d1f2a3b
    """
    named = ids.Named("note", "hwci boxes notes", "of a box", "Check --org, or use")
    whole_id = ids.complete(note_id, named, lambda: (note.id for note in _notes(server)))
    server.send(client.calls.remove_box_note(server.org_id(), whole_id))
    note("The note is removed.")


def _notes(server: Connection, box: str | None = None) -> "Iterable[BoxNote]":
    return server.items(
        client.calls.list_box_notes(
            server.org_id(), box_key=box and _key_of(server, box), limit=limits.PAGE_LIMIT_MAX
        )
    )


def _key_of(server: Connection, text: str) -> str:
    """Return the name of a box, of which the start of its id is enough if it was created."""
    prefix = text.lower()
    if len(prefix) < ID_DIGITS or set(prefix) - set("0123456789abcdef-"):
        return text
    listed = server.items(client.calls.list_boxes(server.org_id(), limit=limits.PAGE_LIMIT_MAX))
    names = [box.name for box in listed if box.id and str(box.id).startswith(prefix)]
    return names[0] if len(names) == 1 else text


def _found(server: Connection, org_id: UUID, box: str) -> tuple[UUID, str]:
    """Return id and name of the box that a person names by id or name: one that only reported was
    never created, and has neither an id nor a key.
    """
    named = ids.Named("box", "hwci boxes list", "that was created", "Check --org, or use")
    listed = server.items(client.calls.list_boxes(org_id, limit=limits.PAGE_LIMIT_MAX))
    known = {known_box.id: known_box for known_box in listed if known_box.id}
    box_id = ids.find(
        box, named, lambda: [(key, known_box.name) for key, known_box in known.items()]
    )
    return box_id, known[box_id].name


def _show(made: "BoxInstallAnswer", server: Connection, *, json: bool) -> None:
    until = tables.moment(made.expires_at)
    note(f"Its install token is shown only once, and works once, until {until} UTC. On the bench:")
    note(f"  hwci box install --url {server.settings.url}")
    emit_json(made) if json else write(made.install_token)
