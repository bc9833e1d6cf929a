# SPDX-License-Identifier: Apache-2.0
"""What a terminal of 80 or 40 columns shows: no line is longer, and no fact is lost (contract,
"Command line"). What is read through a pipe has whole lines, with a tab between two cells.
"""

import csv
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from hwci.cli.terminal.render import safe
from hwci.cli.terminal.tables import TableName
from hwci.client import Client, calls
from hwci.contract.ci_systems import SigningSystem
from hwci.contract.vocabulary import Role
from hwci.wire.reports import RunReport
from tests.cli.conftest import Command, invite_owner
from tests.cli.every_command import COMMANDS
from tests.cli.terminals import at_terminal
from tests.support.running import EMAIL, PASSWORD, RunningServer, running_in_thread
from tests.support.scene import CONFIGURATION, merge, play, report

WIDTHS = (80, 40)
LONG = "bring-up-of-revision-c"
REPO, SUITE = f"acme/firmware-{LONG}", f"sensor-node-{LONG}"
BOX = f"bench-{LONG}-in-the-basement"
TEST = f"tests.hil.{LONG}.test_everything_works[uart1-{'x' * 10}]"
TABLES = {
    "bisect status": f"{TEST} --product {REPO}:{SUITE} --good aaaaaaa --bad bbbbbbb",
    "boxes health": "",
    "boxes list": "",
    "boxes notes": "",
    "boxes show": BOX,
    "commits show": f"bbbbbbb --product {REPO}:{SUITE}",
    "env": "",
    "failures list": "",
    "failures show": "ID",
    "incidents list": "",
    "invitations list": "",
    "keys list": "",
    "known list": "",
    "members invited": "",
    "members list": "",
    "merges list": "",
    "merges unchecked": "",
    "metrics": "",
    "orgs audit-log": "",
    "orgs list": "",
    "products": "",
    "profiles list": "",
    "runs list": "",
    "runs show": "ID",
    "sessions list": "",
    "spool list": "",
    "suite-config list": "",
    "tests list": "",
    "tests show": f"{TEST} --product {REPO}:{SUITE}",
    "trends": "",
    "webhooks deliveries": "ID",
    "trusts list": "",
    "webhooks list": "",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server where everything has a long name."""
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        with Client(running.url, token=running.token) as person:
            person.send(calls.create_ci_key(running.org_id, f"Key of the team for {LONG}"))
            person.send(
                calls.create_trust(
                    running.org_id, SigningSystem.GITHUB, REPO, branch=f"feature/{LONG}"
                )
            )
            person.send(calls.create_box(running.org_id, BOX))
            person.send(calls.add_box_note(running.org_id, BOX, f"A new cable for {LONG}"))
            until = datetime.now(UTC) + timedelta(days=9)  # noqa: TID251 - as the server's clock
            person.send(calls.add_known_failure(running.org_id, f"https://{LONG}", until, TEST))
            person.send(calls.invite(running.org_id, f"{LONG}@firmware.example.org", Role.MEMBER))
            person.send(calls.create_org(f"Organization of the team for {LONG}"))
        invite_owner(running, f"Organization of another team for {LONG}")
        with Client(running.url, ci_key=running.ci_key) as job:
            job.send(calls.put_suite_config(LONG_CONFIGURATION))
            for number, outcome in enumerate(("pass", "fail")):
                job.send(calls.report_run(long_report(number, outcome)))
            job.send(calls.announce_merge(LONG_MERGE))
        play(running)
        with Client(running.url, token=running.token) as person:
            tell_of_a_failure(person, running.org_id)
        yield running


def tell_of_a_failure(person: Client, org_id: UUID) -> None:
    """Leave a delivery to a webhook, which is sent to no more."""
    made = person.send(calls.create_webhook(org_id, f"https://{LONG}.example.invalid/"))
    (failure, *_) = person.send(calls.other_failures(org_id)).items
    person.send(calls.confirm_failure(org_id, failure.id))
    person.send(calls.reset_failure(org_id, failure.id))
    person.send(calls.change_webhook(org_id, made.id, enabled=False))


LONG_MERGE = merge("c" * 40).model_copy(
    update={"repo_key": REPO, "suite": SUITE, "branch": f"feature/{LONG}"}
)
LONG_CONFIGURATION = CONFIGURATION.model_copy(update={"repo_key": REPO, "suite": SUITE})


def long_report(number: int, outcome: str) -> RunReport:
    plain = report(number, "abcdef12"[number] * 40, {TEST: outcome})
    return plain.model_copy(
        update={"repo_key": REPO, "suite": SUITE, "box_key": BOX, "branch": f"feature/{LONG}"}
    )


def test_each_command_that_prints_a_table_is_known_here() -> None:
    with_output = {
        name for name, one in COMMANDS.items() if "output" in {item.name for item in one.params}
    }

    assert with_output <= TABLES.keys()


def squeezed(text: str) -> str:
    """Return a text as if no line of it was broken, and no command went on with a backslash."""
    return re.sub(r" \\$|[\s\u2500-\u257f]", "", text, flags=re.MULTILINE)


def brief(text: str) -> str:
    """Return a text with eight digits of each id and commit, and the suite alone of a product."""
    return re.sub(r"\b([0-9a-f]{8})[0-9a-f-]{4,}\b", r"\1", text.replace(f"{REPO}:", ""))


EMPTY = {"Run", "Subject", "Change", "Error"}
"""Headers of columns that say nothing of the rows here: a terminal does not show them."""


def words(text: str) -> set[str]:
    """Return the words of a text as a narrow terminal has them: eight digits of an id or commit, a
    suite alone, how long ago.
    """
    ago = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d \(([\w ]+)\)|\(UTC\)", r"\1", brief(text))
    reached = re.sub("never reached the hardware(?!,)", "never reached", ago)
    minutes = re.sub(" minutes? ", " min ", reached)
    return set(minutes.split()) - {REPO, *EMPTY}


def too_long(text: str, columns: int) -> list[str]:
    """Return the lines that are longer; an address stays whole, so that it can be opened."""
    return [line for line in text.splitlines() if len(line) > columns and "://" not in line]


def arguments(signed_in: Command, name: str, own: dict[str, str]) -> list[str]:
    """Return a command that prints a table of this server."""
    if TABLES[name] != "ID":
        return [*name.split(), *TABLES[name].split()]
    listed = signed_in(name.split(maxsplit=1)[0], "list", "-o", "csv", **own).out
    return [*name.split(), listed.splitlines()[1].partition(",")[0]]


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_long_names_fits_and_loses_no_word(
    signed_in: Command, in_ci: Command, server: RunningServer, name: str, columns: int
) -> None:
    if name == "spool list":
        body = long_report(7, "fail").model_dump_json(exclude_unset=True)
        in_ci("report-run", "--body", "-", stdin=body, HWCI_URL="http://127.0.0.1:9")
    if name == "profiles list":
        kept = ("--profile", LONG, "--email", EMAIL, "--password-stdin")
        assert signed_in("login", *kept, stdin=PASSWORD).code == 0
    own = {"HWCI_ORG": str(server.org_id), "HWCI_RUN_ID": "7"}  # else `env` shows the second
    command = arguments(signed_in, name, own)

    narrow = signed_in(*command, **own, COLUMNS=str(columns))
    piped = signed_in(*command, **own, COLUMNS="")

    assert (narrow.code, piped.code) == (0, 0), narrow.err
    assert too_long(narrow.out, columns) == []
    assert len(piped.out.splitlines()) > 1, "names of columns, and a row"
    assert name == "env" or not re.search("[\u2500-\u257f]", piped.out)
    shown = squeezed(brief(narrow.out))
    assert {word for word in words(piped.out) if squeezed(word) not in shown} == set()


FACTS = {
    *("testId", "boxKey", "run.boxKey", "firstRun.boxKey", "sha", "verdict", "label", "reasonText"),
    *("brokenBy.from", "brokenBy.to", "suspects.from", "suspects.to", "fix.sha", "causeText"),
}
"""What a person decides by, as spreadsheets call it; since when is among the words."""
LISTS = (
    *("failures list", "incidents list", "runs list", "merges list", "merges unchecked"),
    *("tests list", "tests show"),
    *(f"metrics --table {name}" for name in TableName),
)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", LISTS)
def test_what_a_person_decides_by_is_in_a_narrow_terminal_as_in_a_spreadsheet(
    signed_in: Command, server: RunningServer, name: str, columns: int
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}
    command = [*name.split(), *TABLES.get(name, "").split()]
    shown = signed_in(*command, **own, COLUMNS=str(columns)).out
    table = [*csv.DictReader(StringIO(signed_in(*command, "-o", "csv", **own).out))]

    facts = {row[key] for row in table for key in FACTS & row.keys() if row[key]}
    assert facts
    assert {fact for fact in facts if squeezed(brief(fact)) not in squeezed(shown)} == set()


def rows_of(shown: str) -> list[str]:
    """Return the rows of a table, each with what stands below it and what all rows share."""
    below = shown.partition("─\n")[2].rstrip("\n")
    rows, _, shared = below.partition("\n  In all rows")
    return [row + shared for row in re.split(r"\n(?! )", rows)]


def at_path(row: Any, path: str) -> Any:
    for step in path.split("."):
        row = row and row.get(step)
    return row


OF_ROWS = FACTS - {"label"} | {"suite"}
OWN_FACTS = {
    "failures list": {"label"},
    "incidents list": {"label"},
    "runs list": {"ending"},
    "boxes list": {"name", "status"},
    "metrics --table real-bugs": {"status"},
    "metrics --table other-failures": {"status"},
    "metrics --table times-to-fix": {"incidents"},
}


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", [*LISTS, "boxes list", "products"])
def test_a_narrow_table_has_the_rows_of_the_api_each_with_its_own_facts(
    signed_in: Command, server: RunningServer, name: str, columns: int
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}
    command = [*name.split(), *TABLES.get(name, "").split()]
    told = json.loads(signed_in(*command, "--json", **own).out)
    items = told if isinstance(told, list) else told.get("items") or told["boxes"]
    shown = rows_of(signed_in(*command, **own, COLUMNS=str(columns)).out)

    for item, row in zip(items, shown, strict=True):
        keys = OF_ROWS | OWN_FACTS.get(name, set())
        facts = {safe(fact) for key in keys if (fact := at_path(item, key)) is not None}
        assert facts, item
        told = {squeezed(brief(fact.replace("-reached", " reached"))) for fact in facts}
        assert {fact for fact in told if fact not in squeezed(row)} == set()


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", [name for name in LISTS if name.endswith(("list", "unchecked"))])
def test_ids_and_commits_of_a_narrow_row_have_one_length(
    signed_in: Command, server: RunningServer, name: str, columns: int
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}
    shown = signed_in(*name.split(), **own, COLUMNS=str(columns)).out

    assert not re.search(r"\b[0-9a-f]{9,}\b", shown)
    assert not re.search(r"\d{4}-\d\d-\d\d(?!\))", shown)  # "(known: … until 2026-12-09)"


@pytest.mark.parametrize("name", ["failures", "runs"])
@pytest.mark.parametrize("columns", ["40", "60", "80", "120"])
def test_ids_are_short_in_a_terminal_and_name_their_rows(
    signed_in: Command, server: RunningServer, name: str, columns: str
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}
    piped = signed_in(name, "list", **own, COLUMNS="").out.splitlines()[1:]
    ids = [line.partition("\t")[0] for line in piped]
    shown = signed_in(name, "list", **own, COLUMNS=columns).out

    assert ids
    for whole in ids:
        assert whole[:8] in shown.split()
        assert f'"{whole}"' in signed_in(name, "show", whole[:8], "--json", **own).out


@pytest.mark.parametrize("name", ["failures", "runs"])
def test_a_broken_line_keeps_its_indentation(
    signed_in: Command, server: RunningServer, name: str
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}
    listed = signed_in(name, "list", "-o", "csv", **own).out
    shown = signed_in(name, "show", listed.splitlines()[1].partition(",")[0], **own, COLUMNS="40")
    lines = shown.out.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("  "))
    section = lines[first : lines.index("", first)]

    assert [line for line in section if not line.startswith("  ")] == []


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", ["metrics", "failures list", "failures show", "runs list --sha x"])
def test_notes_and_errors_fit_a_terminal_too(
    signed_in: Command, server: RunningServer, tmp_path: Path, name: str, columns: int
) -> None:
    own = {"HWCI_ORG": str(server.org_id)}
    access = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token, "COLUMNS": str(columns)}
    command = arguments(signed_in, name, own) if name in TABLES else name.split()
    code = 0 if name in TABLES else 2
    shown = at_terminal(tmp_path, *command, typed={}, env=access | own, code=code)

    assert too_long(re.sub(r"\x1b\[[\d;]*m", "", shown), columns) == []


ONE_WORD = r""" {6}("[^"]*"|\S+)"""
"""A word of an example stays whole, so that it can be pasted."""


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_narrow_terminal(cli: Command, name: str, columns: int) -> None:
    shown = cli(*name.split(), "--help", COLUMNS=str(columns)).out

    lines = [line.removesuffix(" \\") for line in too_long(shown, columns)]
    assert [line for line in lines if not re.fullmatch(ONE_WORD, line)] == []
    assert squeezed(shown) == squeezed(cli(*name.split(), "--help", COLUMNS="80").out)
