# SPDX-License-Identifier: Apache-2.0
"""The JSON that commands write has one style (contract, "Command line")."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hwci.client import Client, calls
from hwci.contract.vocabulary import Role
from tests.cli.conftest import Command, invite_owner
from tests.cli.every_command import COMMANDS
from tests.support.running import EMAIL, PASSWORD, RunningServer
from tests.support.scene import PRODUCT, REPORTS, A, B, D

SAMPLES = Path(__file__).parents[1] / "ci" / "samples"
FIRST = "first"
"""Stands for the id of the first item that a list shows."""
RANGE = f"spi --product {PRODUCT} --good {A[:7]} --bad {D[:7]}"
NEXT_WEEK = datetime.now(UTC) + timedelta(days=7)  # noqa: TID251 - as the server's clock
CALLS = {
    "admin audit verify": "--database hwci.db",
    "admin check": "--database hwci.db",
    "admin usage": "--database hwci.db",
    "admin create-user": "--email new@example.org --password-stdin --database hwci.db --create"
    " --organization Acme",
    "bisect next": RANGE,
    "bisect start": RANGE,
    "bisect status": RANGE,
    "boxes create": "json-bench",
    "boxes health": "--days 3650",
    "boxes install-token": FIRST,
    "boxes list": "",
    "boxes note": "bench cleaned",
    "boxes notes": "",
    "boxes show": "bench-1 --days 3650",
    "commits show": f"{B} --days 3650",
    "doctor": "",
    "env": "",
    "failures confirm": f"{FIRST} --days 3650",
    "failures dismiss": f"{FIRST} --days 3650",
    "failures gaps": "--days 3650",
    "failures list": "--days 3650 --label resolved",
    "failures reset": f"{FIRST} --days 3650",
    "failures show": f"{FIRST} --days 3650",
    "incidents list": "--days 3650",
    "invitations list": "",
    "keys create": "json",
    "keys list": "",
    "known add": f"FW-1 --test uart.* --until {NEXT_WEEK:%Y-%m-%d}",
    "known list": "",
    "members invite": "json@example.org",
    "members invited": "",
    "members list": "",
    "merges list": "--days 3650",
    "merges plan": "--days 3650",
    "merges unchecked": "--days 3650",
    "metrics": "--days 3650",
    "orgs audit-log": "",
    "orgs create": "Json",
    "orgs keep": "--messages 30 --yes",
    "orgs list": "",
    "orgs show": "",
    "products": "",
    "report": str(SAMPLES / "twister.json"),
    "profiles list": "",
    "runs list": "",
    "runs show": FIRST,
    "sessions list": "",
    "spool list": "",
    "suite-config list": "",
    "tests list": "",
    "tests show": "i2c --product acme/firmware:sensor-fw --days 3650",
    "trends": "--days 3650",
    "webhooks create": "https://chat.example/json",
    "trusts create": "github acme/firmware",
    "trusts list": "",
    "webhooks list": "",
    "whoami": "",
}
"""The arguments of each command with --json."""
REVIEWED = {"failures dismiss", "failures reset"}
"""They need a failure that was confirmed."""
OTHERS = {
    "boxes fit",  # ends with 3 where a box is not fit: test_box_fit.py
    "gate",  # ends with 3 where something speaks against it: test_gate.py
    *("bisect start", "bisect next", "bisect status"),  # need a test that broke: test_bisect.py
    "invitations accept",  # needs a second person
    "members role",
    "orgs delete",  # closes what the others ask: test_accounts.py
    "sessions end",
    "suite-config check",  # needs a checkout: test_suite_config.py
    "suite-config plan",
    "webhooks deliveries",  # needs an event: test_webhooks.py
    "runs watch",  # a line for each event, as it comes: test_watch.py
}


def names(value: Any) -> Iterator[str]:
    """Yield the names of all fields, but those of a report, of details and of variables."""
    if isinstance(value, dict):
        yield from value
        for name, inner in value.items():
            yield from () if name in {"fields", "details", "isSet"} else names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names(inner)


def blanks(line: str) -> int:
    """Return how far a line is indented."""
    return len(line) - len(line.lstrip(" "))


def test_each_command_with_json_is_known_here() -> None:
    with_json = {name for name, one in COMMANDS.items() if "json" in {p.name for p in one.params}}

    assert with_json == CALLS.keys() | OTHERS


@pytest.fixture(scope="module")
def full_server(busy_server: RunningServer) -> RunningServer:
    """The server after the reports of `scene.py`, with something for each list."""
    with Client(busy_server.url, token=busy_server.token) as person:
        person.send(calls.create_box(busy_server.org_id, "bench"))
        person.send(calls.add_box_note(busy_server.org_id, "bench", "new board"))
        person.send(calls.invite(busy_server.org_id, "invited@example.org", Role.MEMBER))
    invite_owner(busy_server, "Other")
    return busy_server


@pytest.mark.usefixtures("full_server")
@pytest.mark.parametrize("name", CALLS)
def test_json_has_the_names_of_the_api_one_indentation_and_one_end(
    signed_in: Command, in_ci: Command, server: RunningServer, name: str
) -> None:
    if name.startswith("admin") and name != "admin create-user":
        signed_in("admin", "migrate", "--database", "hwci.db")
        signed_in(*f"admin create-user {CALLS['admin create-user']}".split(), stdin=f"{PASSWORD}\n")
    if name == "spool list":
        body = REPORTS[0].model_dump_json(exclude_unset=True)
        in_ci("report-run", "--body", "-", stdin=body, HWCI_URL="http://127.0.0.1:9")
    own = {"HWCI_ORG": str(server.org_id), "stdin": f"{PASSWORD}\n"}
    if name == "profiles list":
        assert signed_in("login", "--email", EMAIL, "--password-stdin", **own).code == 0
    if name in REVIEWED:
        signed_in("failures", "confirm", *_arguments(signed_in, "failures confirm", own), **own)
    arguments = _arguments(signed_in, name, own)

    code, out, err = signed_in(*name.split(), *arguments, "--json", **own)

    assert code == 0 or name == "doctor", err
    value = json.loads(out)
    assert _rows(value)
    assert list(map(blanks, out.split("\n"))) == list(
        map(blanks, f"{json.dumps(value, indent=2)}\n".split("\n"))
    )
    assert [one for one in names(value) if not re.fullmatch("[a-z][a-zA-Z0-9]*", one)] == []


def _arguments(signed_in: Command, name: str, own: dict[str, str]) -> list[str]:
    if FIRST not in CALLS[name]:
        return CALLS[name].split()
    group = name.split(maxsplit=1)[0]
    listed = signed_in(group, "list", *CALLS[f"{group} list"].split(), "--json", **own).out
    return CALLS[name].replace(FIRST, _rows(json.loads(listed))[0]["id"]).split()


def _rows(value: Any) -> Any:
    """Return what a list or a page of one has; any other answer as it is."""
    return value["items"] if "total" in value and "items" in value else value
