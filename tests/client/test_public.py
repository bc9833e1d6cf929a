# SPDX-License-Identifier: Apache-2.0
"""What may be imported, what that costs, and errors that travel between processes."""

import json
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import hwci.client
from hwci.client import RunReport, TestItem, Trigger, Verdict, errors
from hwci.client._address import parse_address
from hwci.wire.errors import Issue

ROOT = Path(__file__).parents[2]
HEAVY = ("aiohttp", "asyncio", "sqlite3", "jwt", "passlib", "typer", "rich")
ISSUES = (Issue(path=["body", "sha"], message="Should be a commit"),)


def test_the_public_names_are_these() -> None:
    assert set(hwci.client.__all__) == {
        *("AsyncClient", "Call", "Client", "HwciError", "ListPage", "Session", "calls", "errors"),
        *("FailureClass", "Label", "Outcome", "Role", "RunEventType", "RunStatus", "Trigger"),
        *("Changes", "CommitItem", "MergeAnnouncement", "RunReport", "SuiteConfiguration"),
        *("TestItem", "Verdict", "Failure", "FailureEvidence", "ResolvedFailure"),
        *("FlakyTest", "MetricsPage", "Product", "SuiteConfig"),
        *("Merge", "Run", "RunDetail", "RunEvent"),
    }
    for name in hwci.client.__all__:
        assert getattr(hwci.client, name) is not None


def test_dir_shows_the_public_names_before_any_is_loaded() -> None:
    code = "import hwci.client as c; print(*dir(c)); print(*sorted(c.__all__))"
    shown, public = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()

    assert shown == public


def test_a_report_can_be_made_of_what_json_has() -> None:
    body: dict[str, Any] = {
        "repo_key": "acme/fw",
        "workflow": "hil",
        "run_id": 1,
        "run_attempt": 1,
        "trigger": "merge",
        "branch": "main",
        "sha": "a" * 40,
        "conclusion": "success",
        "started_at": "2026-03-01T10:00:00Z",
        "ended_at": "2026-03-01T11:00:00Z",
        "hello_ok": True,
        "box_key": "bench-1",
    }
    items: list[Any] = [
        {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1, "verdict": "infra"}
    ]
    made = RunReport(**body, tests=[TestItem(**item) for item in items])

    assert made == RunReport.model_validate_json(json.dumps({**body, "tests": items}))
    assert made == RunReport(**body, tests=items)
    assert (made.trigger, made.tests[0].verdict) == (Trigger.MERGE, Verdict.INFRA)
    with pytest.raises(ValidationError):
        RunReport(**{**body, "trigger": "Merge", "tests": []})


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="SyncClient"):
        hwci.client.SyncClient  # noqa: B018 - asking for it is the test


@pytest.mark.parametrize(
    ("statement", "needed"),
    [
        ("from hwci.client import Client, calls, errors; Client('http://localhost')", []),
        ("import hwci.ci.results.read", []),
        ("import hwci.ci.reporting.report", ["sqlite3"]),  # of the bench store
    ],
)
def test_a_ci_step_imports_no_heavy_library(statement: str, needed: list[str]) -> None:
    code = f"{statement}; import sys; print([m for m in {HEAVY} if m in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )

    assert done.stdout.strip() == str(needed)


@pytest.mark.parametrize(
    "fault",
    [
        errors.ServerAddressError("x", "why"),
        errors.ProxyAddressError("HTTP_PROXY", "x", "why"),
        errors.CredentialMissingError("a CI key"),
        errors.CredentialMalformedError("a CI key"),
        errors.SessionFileError("what", "why", "fix"),
        errors.SessionEndedError("what", "why"),
        errors.OrganizationError("Engines (1), Boards (2)"),
        errors.InvalidCallError(ISSUES),
        errors.ConnectionFailedError("http://h", "why", sent=True),
        errors.TimedOutError("http://h", "why", sent=False),
        errors.AnswerShapeError(200, "why", "r1"),
        *(
            errors.error_class(status)(status, "E", "M", "r1", ISSUES)
            for status in (400, 401, 403, 404, 409, 413, 418, 429, 500)
        ),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_errors_survive_pickling(fault: errors.HwciError) -> None:
    again = pickle.loads(pickle.dumps(fault))

    assert type(again) is type(fault)
    assert (str(again), vars(again)) == (str(fault), vars(fault))


def test_the_pause_that_was_asked_for_survives_pickling() -> None:
    fault = errors.RateLimitedError(429, "Too Many Requests", "M", None)
    fault.retry_after = 9.0

    assert pickle.loads(pickle.dumps(fault)).retry_after == 9.0


def test_the_picture_shows_every_error() -> None:
    shown = errors.__doc__ or ""

    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert name in shown


@pytest.mark.parametrize(
    ("text", "origin", "prefix"),
    [
        ("http://localhost:8080", "http://localhost:8080", ""),
        ("https://h.example/", "https://h.example", ""),
        ("https://h.example:443/a/b/", "https://h.example", "/a/b"),
        ("http://[::1]:8080", "http://[::1]:8080", ""),
        ("HTTP://H.Example", "http://h.example", ""),
    ],
)
def test_an_address_is_taken_apart(text: str, origin: str, prefix: str) -> None:
    address = parse_address(text)

    assert (address.origin, address.prefix) == (origin, prefix)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "neither with http://"),
        ("localhost:8080", "neither with http://"),
        ("ftp://h", "neither with http://"),
        ("http://", "names no host"),
        ("http://h:99999", "[Pp]ort"),
        ("http://h:x", "[Pp]ort"),
        ("http://me:hunter2@h", "user name"),
        ("http://me:hunter2/1@h", "user name"),
        ("http://me:1/hunter2@h", "user name"),
        ("http://me:hunter2@[h", "user name"),
        ("http://h/?a=b", "query"),
        ("http://h/#a", "fragment"),
        ("http://h/ü", "path"),
        ("http://[::1", "IPv6"),
        ("http://" + "a" * 64 + ".example", "label"),
    ],
)
def test_what_is_no_address_is_shown_without_its_secrets(text: str, message: str) -> None:
    with pytest.raises(errors.ServerAddressError, match=message) as caught:
        parse_address(text)

    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
    assert isinstance(caught.value, ValueError)
