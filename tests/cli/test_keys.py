# SPDX-License-Identifier: Apache-2.0
import json
import re

from tests.cli.conftest import Command

MERGE = [
    "merge-announce",
    "--strict",
    "--repo-key",
    "r",
    "--sha",
    "abcdef1",
    "--branch",
    "main",
    "--merged-at",
    "2026-01-01T00:00:00Z",
]


def test_a_new_key_stands_alone_on_stdout(signed_in: Command) -> None:
    code, out, err = signed_in("keys", "create", "GitHub")

    assert code == 0
    assert re.fullmatch(r"svc_[0-9a-f]{64}\n", out)
    assert "shown only once" in err
    assert "svc_" not in err


def test_a_key_works_until_it_is_revoked(signed_in: Command) -> None:
    made = json.loads(signed_in("keys", "create", "short lived", "--json").out)

    assert signed_in(*MERGE, HWCI_CI_KEY=made["apiKey"]).code == 0
    assert signed_in("keys", "revoke", made["id"]).err == f"Key {made['id']} is revoked.\n"
    code, _, err = signed_in(*MERGE, HWCI_CI_KEY=made["apiKey"])
    assert code == 4
    assert "Check HWCI_CI_KEY" in err


def test_the_list_shows_no_key(signed_in: Command) -> None:
    signed_in("keys", "create", "listed")

    for form in ("table", "json", "csv", "md"):
        code, out, _ = signed_in("keys", "list", "--output", form)
        assert code == 0
        assert "listed" in out
        assert "svc_" not in out
