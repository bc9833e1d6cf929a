# SPDX-License-Identifier: Apache-2.0
"""A server that nobody named gets no key; one that does not answer as hwci does gets none again."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hwci.cli.session.settings import kept_sign_ins
from hwci.client import Client, calls
from hwci.client.session_file import Profile
from tests.cli.conftest import Command
from tests.cli.kept import ANNOUNCED, body, listed
from tests.support.answering import Answer, AnsweringServer, answering
from tests.support.running import RunningServer
from tests.support.sign_ins import put

NOWHERE: dict[str, Any] = {"HWCI_URL": None}
PORTAL = b"<html><head><title>\n Sign in to GuestNet </title></head></html>"
CONFIG = {"repo_key": "r", "suite": "s", "firmware_paths": ["a/**"], "harness_paths": []}


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnsweringServer]:
    """A server of somebody else at the default address."""
    with answering(Answer(200, PORTAL)) as server:
        monkeypatch.setattr("hwci.cli.session.settings.DEFAULT_URL", server.url)
        yield server


@pytest.mark.parametrize(
    ("command", "strict", "code"),
    [
        ("report-run", False, 0),
        ("merge-announce", False, 0),
        ("report-run", True, 1),
        ("merge-announce", True, 1),
    ],
)
def test_a_job_that_names_no_server_keeps_its_report_and_says_so(
    in_ci: Command, stranger: AnsweringServer, command: str, strict: bool, code: int
) -> None:
    said = body(1) if command == "report-run" else ANNOUNCED
    flags = ["--strict"] if strict else []

    done = in_ci(command, "--body", "-", *flags, stdin=said, **NOWHERE)

    what, cause, fix = done.err.splitlines()
    assert done.code == code
    assert what.startswith("error: " if strict else "warning: ")
    assert cause.startswith(
        "cause: HWCI_URL is not set, so no server is known, and a key is never sent"
    )
    assert "fix: Set HWCI_URL, or name the server: --url URL. Pending reports are kept in " in fix
    assert "once the server is known, the next report and `hwci spool flush` send them" in fix
    assert stranger.received == []


def test_the_server_of_a_kept_sign_in_gets_no_key_of_a_job(
    in_ci: Command, stranger: AnsweringServer
) -> None:
    put(kept_sign_ins(os.environ), "default", Profile(stranger.url, "a@example.org", "t", "r", 4e9))

    done = in_ci("report-run", "--body", "-", stdin=body(30), **NOWHERE)

    assert "cause: HWCI_URL is not set" in done.err
    assert stranger.received == []


def test_a_person_who_is_signed_in_applies_a_configuration_there_and_a_job_does_not(
    in_ci: Command, server: RunningServer, tmp_path: Path
) -> None:
    (tmp_path / "c.json").write_text(json.dumps({**CONFIG, "merge_trigger": False}))
    put(kept_sign_ins(os.environ), "default", Profile(server.url, "a@example.org", "t", "r", 4e9))

    refused = in_ci("suite-config", "apply", "c.json", **NOWHERE, CI="true")
    applied = in_ci("suite-config", "apply", "c.json", **NOWHERE, CI=None)

    assert (refused.code, "cause: HWCI_URL is not set" in refused.err) == (2, True)
    assert (applied.code, f"Applied to r:s at {server.url}." in applied.err) == (0, True)


def test_a_report_kept_without_a_server_goes_out_with_the_next_one_that_names_one(
    in_ci: Command, server: RunningServer
) -> None:
    in_ci("report-run", "--body", "-", stdin=body(31), **NOWHERE)
    [waiting] = json.loads(in_ci("spool", "list", "--json").out)
    assert waiting["reason"].startswith("HWCI_URL was not set: it is sent to the first server")

    done = in_ci("report-run", "--body", "-", stdin=body(32))

    assert "Sent 1 report that waited.\n" in done.err
    assert listed(in_ci) == []
    with Client(server.url, token=server.token) as client:
        runs = {run.run_id for run in client.items(calls.list_runs(server.org_id))}
    assert {31, 32} <= runs


@pytest.mark.parametrize(
    "words",
    [
        ("spool", "flush"),
        ("suite-config", "apply", "c.json"),
        ("box", "heartbeat", "--once"),
        ("box", "install"),
        ("metrics",),
    ],
    ids=" ".join,
)
def test_a_command_that_names_no_server_for_its_key_is_wrong_usage(
    in_ci: Command, stranger: AnsweringServer, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "c.json").write_text(json.dumps({**CONFIG, "merge_trigger": False}))
    secrets = {"HWCI_BOX_KEY": "k", "HWCI_INSTALL_TOKEN": "t", "HWCI_TOKEN": "t"}

    done = in_ci(*words, **NOWHERE, **secrets)

    assert done.code == 2
    assert "cause: HWCI_URL is not set, so no server is known, and a key is never sent" in done.err
    assert "fix: Set HWCI_URL, or name the server: --url URL\n" in done.err
    assert stranger.received == []


def test_the_doctor_sends_no_key_to_the_default_address(
    in_ci: Command, stranger: AnsweringServer
) -> None:
    done = in_ci("doctor", **NOWHERE)

    assert done.code == 1
    assert "fail  server: HWCI_URL is not set" in done.out
    assert stranger.received == []


@pytest.mark.parametrize("status", [200, 302, 401, 403, 404, 511])
def test_a_sign_in_page_of_a_network_gets_the_key_once_per_command(
    in_ci: Command, tmp_path: Path, status: int
) -> None:
    (tmp_path / "r.xml").write_text('<testsuite><testcase name="boot"/></testsuite>')
    html = {"Content-Type": "text/html; charset=utf-8"}
    with answering(Answer(status, PORTAL, html)) as portal:
        there = {"HWCI_URL": portal.url, "HWCI_DEADLINE": "120"}
        plain = json.loads(body(1))
        flags = [
            f"--{name.replace('_', '-')}={plain[name]}"
            for name in (
                "repo_key",
                "workflow",
                "suite",
                "run_id",
                "run_attempt",
                "trigger",
                "branch",
                "sha",
            )
        ]
        files = [f"--junit={box}=r.xml" for box in ("b1", "b2", "b3")]
        done = in_ci("report-run", *flags, "--no-changes", *files, **there)
        assert len(portal.received) == 1
        flushed = in_ci("spool", "flush", **there)
        assert len(portal.received) == 2

    assert "text/html, titled 'Sign in to GuestNet'" in done.err
    assert "1 report not taken, 2 not tried" in done.err
    assert "Pending reports are kept in " in done.err
    assert flushed.code != 0
    assert [state for state, _, _ in listed(in_ci)] == ["waiting"] * 3
