# SPDX-License-Identifier: Apache-2.0
"""`hwci keys`: keys are made, used, listed and revoked."""

import json
import re
from pathlib import Path

import pytest

from hwci.cli.commands import runs
from hwci.client import Client, RunReport, calls
from tests.cli.conftest import Command
from tests.cli.terminals import at_terminal
from tests.support.running import (
    ORGANIZATION,
    PASSWORD,
    RunningServer,
    new_organization,
    report,
)

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
    assert "Shown only once" in err
    assert "svc_" not in err


def test_a_new_key_comes_with_the_install_of_a_job(
    signed_in: Command, server: RunningServer
) -> None:
    err = signed_in("keys", "create", "GitLab").err
    address = rf"{re.escape(server.url)}/dist/\w{{12}}/hwci-[\d.]+\+g\w{{8}}-py3-none-any\.whl"

    assert re.search(rf'^  pip install "{address}#sha256=\w{{64}}"$', err, re.MULTILINE)


def test_what_a_job_pastes_stays_whole_in_a_narrow_terminal(
    server: RunningServer, tmp_path: Path
) -> None:
    own = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token, "HWCI_ORG": str(server.org_id)}
    shown = at_terminal(tmp_path, "keys", "create", "narrow", typed={}, env=own | {"COLUMNS": "40"})

    assert re.search(r'^  pip install "http\S+#sha256=\w{64}"\r?$', shown, re.MULTILINE), shown


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
    by_key = {"HWCI_URL": server.url, "HWCI_READER_KEY": key["apiKey"]}

    assert "keep it as HWCI_READER_KEY where you read" in made.err
    shell = f"  export HWCI_URL={server.url} HWCI_READER_KEY=rdr_...\n  hwci metrics\n"
    assert made.err.endswith(shell)
    assert "A job installs hwci" not in made.err
    for words in READ:
        assert cli(*words, "--json", **by_key).code == 0
    elsewhere = cli("boxes", "list", **by_key)
    what = "error: A reader key is not enough for this command"
    assert (elsewhere.code, elsewhere.err.split("\n")[0]) == (4, what)
    assert "cause: it reads metrics, failures and runs, but no boxes, members or " in elsewhere.err
    assert "Sign in: hwci login, or set HWCI_TOKEN\n" in elsewhere.err
    assert signed_in("keys", "revoke", key["id"][:8]).code == 0
    for words in READ:
        refused = cli(*words, **by_key)
        assert refused.code == 4
        assert "is not a reader key that works" in refused.err


def test_a_reader_key_of_a_product_asks_for_that_product(
    signed_in: Command, cli: Command, server: RunningServer
) -> None:
    one = ["--product", "acme/firmware:hardware"]
    made = signed_in("keys", "create", "--reader", *one, "one product")
    assert made.err.endswith("\n  hwci metrics --product acme/firmware:hardware\n")
    key = made.out.strip()
    by_key = {"HWCI_URL": server.url, "HWCI_ORG": str(server.org_id), "HWCI_READER_KEY": key}

    assert cli("metrics", *one, **by_key).code == 0
    refused = cli("metrics", **by_key)
    assert refused.code == 4
    assert "This reader key reads some products only (request id " in refused.err
    assert f"Name one that it reads ({one[1]}): --product REPO:SUITE; " in refused.err
    assert "repoKey" not in refused.err
    other = cli("metrics", "--product", "acme/firmware:other", **by_key)
    assert (other.code, one[1] in other.err) == (4, True)
    assert "reader of acme/firmware:hardware" in signed_in("keys", "list").out


def test_a_reader_key_has_its_organization_and_takes_no_other(
    signed_in: Command, cli: Command, server: RunningServer
) -> None:
    key = signed_in("keys", "create", "--reader", "wall display").out.strip()
    by_key = {"HWCI_URL": server.url, "HWCI_READER_KEY": key}

    for org in ({}, {"HWCI_ORG": ORGANIZATION}, {"HWCI_ORG": str(server.org_id)}):
        assert cli("runs", "list", **by_key, **org).code == 0
    other = cli("runs", "list", "--org", "Acme", **by_key)
    assert other.code == 2
    assert "does not read an organization named 'Acme'" in other.err
    assert f"cause: it reads {ORGANIZATION} ({server.org_id})" in other.err


def test_whoami_shows_what_a_reader_key_reads(
    signed_in: Command, cli: Command, server: RunningServer
) -> None:
    one = ["--product", "acme/firmware:hardware"]
    key = signed_in("keys", "create", "--reader", *one, "wall display").out.strip()
    by_key = {"HWCI_URL": server.url, "HWCI_READER_KEY": key}

    shown = cli("whoami", **by_key)
    first, second = shown.out.splitlines()
    assert first == (
        f"Reader key wall display of {ORGANIZATION} ({server.org_id}) at {server.url},"
        " CI Metrics on"
    )
    assert (shown.code, second) == (0, "  reads acme/firmware:hardware")
    assert json.loads(cli("whoami", "--json", **by_key).out) == {
        "name": "wall display",
        "organization": {
            "id": str(server.org_id),
            "name": ORGANIZATION,
            "ciMetricsEnabled": True,
        },
        "products": [{"repoKey": "acme/firmware", "suite": "hardware"}],
    }
    both = signed_in("whoami", HWCI_READER_KEY=key).out.splitlines()
    assert both[0] == first
    assert f"owner of {ORGANIZATION}" in both[-1]


def test_a_reader_key_of_another_organization_changes_only_what_is_read_with_it(
    signed_in: Command, server: RunningServer
) -> None:
    other = new_organization(server.location, "other@example.org")
    with Client(server.url) as client:
        token = client.send(calls.login("other@example.org", PASSWORD)).access_token
    with Client(server.url, token=token) as client:
        key = client.send(calls.create_reader_key(other, "their wall display")).api_key
    with Client(server.url, ci_key=server.ci_key, token=server.token) as client:
        failed = {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1}
        body = report(run_id=72, repo_key="acme/door", tests=[{**failed, "verdict": "device"}])
        client.send(calls.report_run(RunReport.model_validate(body)))
        own = calls.list_failures(server.org_id, repo_key="acme/door")
        failure = str(client.send(own).items[0].id)
    both = {"HWCI_READER_KEY": key}

    assert json.loads(signed_in("runs", "list", "--json", **both).out)["total"] == 0
    assert signed_in("boxes", "create", "bench-9", **both).code == 0
    assert "bench-9" in signed_in("boxes", "list", **both).out
    assert signed_in("boxes", "remove", "bench-9", **both).code == 0
    pending = signed_in("failures", "confirm", failure[:8], **both)
    assert "409 Conflict" in pending.err
    named = signed_in("boxes", "list", "--org", str(other), **both)
    assert named.code == 1, "the person is not a member there"


def test_a_bound_key_finds_its_failures_and_runs_by_the_first_digits_of_their_ids(
    signed_in: Command, cli: Command, server: RunningServer
) -> None:
    product = {"repo_key": "acme/lamp", "suite": "lamp"}
    with Client(server.url, ci_key=server.ci_key) as client:
        failed = {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1}
        body = report(run_id=71, **product, tests=[{**failed, "verdict": "device"}])
        client.send(calls.report_run(RunReport.model_validate(body)))
    scope = ("--product", "acme/lamp:lamp")
    bound = ("--product", "acme/none:none", *scope)
    key = signed_in("keys", "create", "--reader", *bound, "lamp").out.strip()
    by_key = {"HWCI_URL": server.url, "HWCI_READER_KEY": key}

    for thing in ("failures", "runs"):
        listed = json.loads(cli(thing, "list", *scope, "--json", **by_key).out)
        whole = listed["items"][0]["id"]
        shown = cli(thing, "show", whole[:8], "--json", **by_key)
        assert (shown.code, whole in shown.out) == (0, True)


def test_many_runs_of_one_product_of_a_bound_key_hide_no_run_of_another(
    signed_in: Command, cli: Command, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "LATEST", 1)
    with Client(server.url, ci_key=server.ci_key) as client:
        for run_id, suite in ((81, "busy"), (82, "busy"), (83, "calm")):
            body = report(run_id=run_id, repo_key="acme/two", suite=suite)
            client.send(calls.report_run(RunReport.model_validate(body)))
    bound = ("--product", "acme/two:busy", "--product", "acme/two:calm")
    key = signed_in("keys", "create", "--reader", *bound, "two").out.strip()
    listed = json.loads(signed_in("runs", "list", "--product", "acme/two:calm", "--json").out)
    [calm] = listed["items"]

    shown = cli("runs", "show", calm["id"][:8], HWCI_URL=server.url, HWCI_READER_KEY=key)

    assert (shown.code, calm["id"] in shown.out) == (0, True)


def test_another_key_in_place_of_a_reader_key_is_named(
    signed_in: Command, cli: Command, server: RunningServer
) -> None:
    key = signed_in("keys", "create", "for ci").out.strip()

    refused = cli("metrics", HWCI_URL=server.url, HWCI_READER_KEY=key)

    assert refused.code == 4
    assert "X-API-Key holds another key than a reader key (rdr_…)" in refused.err
    assert "fix: Check HWCI_READER_KEY: a reader key begins with rdr_" in refused.err


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
