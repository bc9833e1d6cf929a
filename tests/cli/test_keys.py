# SPDX-License-Identifier: Apache-2.0
import json
import re

from tests.cli.conftest import Command
from tests.support.running import RunningServer

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


def test_a_new_key_comes_with_the_install_of_a_job(
    signed_in: Command, server: RunningServer
) -> None:
    err = signed_in("keys", "create", "GitLab").err
    address = rf"{re.escape(server.url)}/dist/\w{{12}}/hwci-[\d.]+-py3-none-any\.whl"

    assert re.search(rf'^  pip install "{address}#sha256=\w{{64}}"$', err, re.MULTILINE)


def test_a_key_works_until_it_is_revoked(signed_in: Command) -> None:
    made = json.loads(signed_in("keys", "create", "short lived", "--json").out)

    assert signed_in(*MERGE, HWCI_CI_KEY=made["apiKey"]).code == 0
    assert signed_in("keys", "revoke", made["id"]).err == f"Key {made['id']} is revoked.\n"
    code, _, err = signed_in(*MERGE, HWCI_CI_KEY=made["apiKey"])
    assert code == 4
    assert "Check HWCI_CI_KEY" in err


READ = [("metrics",), ("failures", "list"), ("runs", "list")]


def test_a_reader_key_reads_without_a_sign_in_until_it_is_revoked(
    signed_in: Command, cli: Command, server: RunningServer
) -> None:
    made = signed_in("keys", "create", "--reader", "wall display", "--json")
    key = json.loads(made.out)
    by_key = {
        "HWCI_URL": server.url,
        "HWCI_ORG": str(server.org_id),
        "HWCI_READER_KEY": key["apiKey"],
    }

    assert f"keep it as HWCI_READER_KEY, beside HWCI_ORG={server.org_id}" in made.err
    for words in READ:
        assert cli(*words, "--json", **by_key).code == 0
    elsewhere = cli("members", "list", **by_key)
    assert (elsewhere.code, elsewhere.err.split("\n")[0]) == (4, "error: You are not signed in")
    assert "for anything else sign in" in elsewhere.err
    assert signed_in("keys", "revoke", key["id"]).code == 0
    for words in READ:
        refused = cli(*words, **by_key)
        assert refused.code == 4
        assert "is not a reader key that works" in refused.err


def test_a_reader_key_of_a_product_asks_for_that_product(
    signed_in: Command, cli: Command, server: RunningServer
) -> None:
    one = ["--product", "acme/firmware:hardware"]
    key = signed_in("keys", "create", "--reader", *one, "one product").out.strip()
    by_key = {"HWCI_URL": server.url, "HWCI_ORG": str(server.org_id), "HWCI_READER_KEY": key}

    assert cli("metrics", *one, **by_key).code == 0
    refused = cli("metrics", **by_key)
    assert refused.code == 4
    assert "This reader key reads some products only; name one" in refused.err
    assert "reader of acme/firmware:hardware" in signed_in("keys", "list").out


def test_a_reader_key_that_reports_is_told_so(signed_in: Command) -> None:
    key = signed_in("keys", "create", "--reader", "wall display").out.strip()
    code, _, err = signed_in(*MERGE, HWCI_CI_KEY=key)

    assert code == 4
    assert "X-API-Key is a reader key, which reads and reports nothing" in err


def test_only_a_reader_key_is_bound_to_products(signed_in: Command) -> None:
    refused = signed_in("keys", "create", "--product", "r:s", "ci")

    assert (refused.code, refused.out) == (2, "")


def test_the_list_shows_no_key(signed_in: Command) -> None:
    signed_in("keys", "create", "listed")
    signed_in("keys", "create", "--reader", "listed too")

    for form in ("table", "json", "csv", "md"):
        code, out, _ = signed_in("keys", "list", "--output", form)
        assert code == 0
        assert "listed too" in out
        assert "svc_" not in out
        assert "rdr_" not in out
