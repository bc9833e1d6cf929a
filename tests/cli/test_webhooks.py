# SPDX-License-Identifier: Apache-2.0
"""`hwci webhooks`: made, listed, with what became of their events, and removed."""

import json
import re

from hwci.client import Client, calls
from tests.cli.conftest import Command
from tests.support.running import RunningServer
from tests.support.scene import play

NOWHERE = "https://no.such.name.invalid/services/hush"


def test_a_new_secret_stands_alone_on_stdout_and_in_no_list(signed_in: Command) -> None:
    code, out, err = signed_in("webhooks", "create", NOWHERE, "--event", "box.silent")

    assert code == 0
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=\n", out)
    assert "shown only once" in err
    assert "whsec_" not in err
    shown = signed_in("webhooks", "list").out
    assert "no.such.name.invalid" in shown
    assert "hush" not in shown
    assert "whsec_" not in shown


def test_an_address_is_read_from_stdin_as_it_may_be_a_secret(signed_in: Command) -> None:
    made = signed_in("webhooks", "create", "-", "--form", "slack", "--json", stdin=f"{NOWHERE}\n")

    assert json.loads(made.out)["host"] == "no.such.name.invalid"
    assert json.loads(made.out)["form"] == "slack"


def test_deliveries_are_listed_and_sent_again_and_a_webhook_is_removed(
    signed_in: Command, server: RunningServer
) -> None:
    play(server)
    made = json.loads(signed_in("webhooks", "create", NOWHERE, "--json").out)
    with Client(server.url, token=server.token) as person:
        rows = person.send(calls.other_failures(server.org_id, days=3650)).items
        person.send(calls.confirm_failure(server.org_id, rows[0].id))

    code, out, _ = signed_in("webhooks", "deliveries", made["id"][:8], "--json")
    assert code == 0
    (delivery,) = json.loads(out)
    assert (delivery["event"], delivery["status"]) == ("failure.real_bug", "waiting")
    assert signed_in("webhooks", "resend", made["id"][:8], delivery["id"][:8]).code == 0
    missing = signed_in("webhooks", "resend", made["id"][:8], "12345678")
    assert (missing.code, "names no delivery of the webhook" in missing.err) == (1, True)
    assert signed_in("webhooks", "remove", made["id"][:8]).code == 0
    assert made["id"] not in signed_in("webhooks", "list", "--json").out


def test_what_the_server_refuses_is_said_by_its_field(signed_in: Command) -> None:
    code, _, err = signed_in("webhooks", "create", "ftp://example.org")

    assert code != 0
    assert "begins with http" in err
